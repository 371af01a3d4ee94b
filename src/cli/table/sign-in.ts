/** Commands that sign in and out. Source: A-51. */
import { durations } from '../../api/limits.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { jsonOnce, profileOption, reach } from '../command-line/options.ts'
import type { LoginFlags, RegisterFlags } from '../commands/login.ts'
import type { ConnectionFlags } from '../connection/connection.ts'
import type { AnswerFlags } from '../output/output.ts'

const where = reach('buyer')[0]!
const { session, dayMs } = durations
const days = (ms: number) => ms / dayMs

export const signIn: readonly CommandRecord[] = [
  {
    name: 'login',
    endpoints: ['login'],
    summary: 'Sign in, and keep the session',
    options: [
      where,
      profileOption,
      ['--email <address>', 'of your account; asked for on a terminal'],
      ['--password-stdin', 'read the password from stdin; else it is asked for and not shown'],
      ['--totp <code>', 'of your authenticator, if your account has one; asked for on a terminal'],
      ['--recovery-code <code>', 'instead, if the authenticator is lost'],
      jsonOnce,
    ],
    notes: `The session is for what takes no key, and is used wherever no key is given.
The session lies in $XDG_CONFIG_HOME/marketplace or ~/.config/marketplace, for your eyes alone. It ends after ${days(session.absoluteMs)} days,\nor after ${days(session.idleMs)} without use, or by \`marketplace logout\`.`,
    examples: [
      'marketplace login --url https://market.example --email you@market.example',
      'marketplace login --email you@market.example --password-stdin < password.txt',
      'marketplace login --profile staging --url https://staging.market.example',
    ],
    run: async (_, flags: LoginFlags) => (await import('../commands/login.ts')).login(flags),
  },
  {
    name: 'register',
    endpoints: ['register'],
    summary: 'Make an account, and sign in',
    options: [
      where,
      profileOption,
      ['--email <address>', 'of your account; asked for on a terminal'],
      ['--name <text>', 'what others read'],
      ['--builder', 'an account that lists agents'],
      ['--password-stdin', 'read the password from stdin; else it is asked for and not shown'],
      jsonOnce,
    ],
    examples: [
      'marketplace register --url https://market.example --email you@market.example --name "Ann Lee"',
      'marketplace register --email you@market.example --name Ann --builder --password-stdin < password.txt',
    ],
    run: async (_, flags: RegisterFlags) => (await import('../commands/login.ts')).register(flags),
  },
  {
    name: 'logout',
    endpoints: ['logout'],
    summary: 'End the session of this address',
    options: [where, profileOption, jsonOnce],
    examples: ['marketplace logout', 'marketplace logout --url https://market.example'],
    run: async (_, flags: ConnectionFlags) => (await import('../commands/login.ts')).logout(flags),
  },
  {
    name: 'profiles',
    summary: 'The sessions that login has kept, by name',
    options: [jsonOnce],
    notes: 'The names are those that --profile takes.',
    examples: ['marketplace profiles', 'marketplace profiles --json'],
    run: async (_, flags: AnswerFlags) => (await import('../commands/login.ts')).profiles(flags),
  },
  {
    name: 'whoami',
    endpoints: ['me'],
    summary: 'Which account commands use here',
    options: [...reach('builder'), jsonOnce],
    examples: ['marketplace whoami', 'marketplace whoami --url https://market.example --json'],
    run: async (_, flags: ConnectionFlags) => (await import('../commands/login.ts')).whoami(flags),
  },
]
