// engines: embedded; process: shared
/** Every question that a command asks: Ctrl-C at it, and what is said where nobody can be asked. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import type { CommandRecord } from '../../src/cli/command-line/command.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { shellLine } from '../support/shell-line.ts'
import { inFolder, run, typeInto } from './program.ts'

const DRIVER = fileURLToPath(new URL('../../test/cli/prompt-process.js', import.meta.url))

interface Case {
  words: string[]
  /** What is answered before. */
  before?: readonly (readonly [question: string, typed: string])[]
  /** The question at which Ctrl-C is typed. */
  at: string
}

const AGENT: [given: [flag: string, text: string], question: string][] = [
  [['--name', 'Letters'], 'Name ('],
  [['--tagline', 'Writes all your letters'], 'Tagline ('],
  [['--description', 'An agent that writes letters, and writes them anew until a buyer likes them.'], 'Description ('],
  [['--base-price', '5.00'], 'Price of a task ('],
  [['--category', 'writing'], 'Categories ('],
]
const allBut = (missing: string) => AGENT.filter(([, question]) => question !== missing).flatMap(([given]) => given)

/** A question each for what is not given. */
const agentCases: Case[] = [
  ...AGENT.map(([, at]): Case => ({ words: ['agents', 'create', ...allBut(at)], at })),
  { words: ['agents', 'create', ...allBut('Name (')], before: [['Name (', 'Letters\r']], at: 'Webhook URL (' },
]

/** Flags without which a command does not come to its questions. */
const NEEDED: Readonly<Record<string, string[]>> = {
  'tasks dispute': ['--reason', 'It is in another language.'],
  'admin resolve': ['--outcome', 'release'],
}

/** The command with something for its arguments, and a key where it takes no session. */
const NAMED: Readonly<Record<string, string>> = { '<agent>': 'test-writer', '<category>': 'code' }

function wordsOf({ name, takes = [], endpoints: [endpoint] = [] }: CommandRecord): string[] {
  const given = takes.map(word => NAMED[word] ?? 'ID_1')
  const takesKey = endpoint && (endpoints[endpoint] as Endpoint).auth === 'key'
  return [...name.split(' '), ...given, ...(NEEDED[name] ?? []), ...(takesKey ? ['--key', 'svc_of_nobody'] : [])]
}

/** What commands that are one request ask for: secrets first, then whether it is meant. */
const questionsOf = ({ name, options }: CommandRecord): string[] => {
  const has = (flag: string) => options.some(([text]) => text === flag)
  const secrets = has('--password-stdin') ? (SECRETS[name] ?? ['Your password:']) : []
  return has('--yes') ? [...secrets, 'Go on?'] : secrets
}

const SECRETS: Readonly<Record<string, string[]>> = {
  'account password change': ['Your password as it is now:', 'The new one:'],
  'account password reset': ['The token of the letter:', 'The new password:'],
}

const OTHERS = ['login', 'register', 'secret rotate']
const { chapters } = await wholeTable()
const rows = chapters
  .flatMap(([, records]) => records)
  .filter(({ name, endpoints: called = [] }) => called.length === 1 && !OTHERS.includes(name))
  .map(record => ({ words: wordsOf(record), questions: questionsOf(record) }))
  .filter(({ questions }) => questions.length > 0)

const rowCases: Case[] = rows.flatMap(({ words, questions }) =>
  questions.map((at, nth) => ({ words, at, before: questions.slice(0, nth).map(one => [one, 'x\r'] as const) })),
)

const SIGNED = ['--file', 'body.json']
const HIDDEN = 'The webhook secret (whsec_…)'
const secretCases: Case[] = [
  { words: ['sign', ...SIGNED], at: HIDDEN },
  { words: ['verify', ...SIGNED, '--timestamp', '1', '--signature', '00'], at: HIDDEN },
  { words: ['emit', 'task.submitted', '--to', 'http://127.0.0.1:1/webhook'], at: HIDDEN },
]

test(
  'Ctrl-C at a question ends its command with 130 and a word, leaves the terminal as it was, and nothing has been done',
  inFolder(async folder => {
    const changes: string[] = []
    const market = await openTestMarketplace({
      log(entry) {
        if (entry.type === 'request' && entry.method !== 'GET') changes.push(`${entry.method} ${entry.path}`)
      },
    })
    const { admin, url } = market
    const ann = await market.join('ann')
    await market.list(ann)
    const guarded = await market.join('bea')
    const { secret } = await guarded.call<{ secret: string }>('POST', '/api/auth/totp', { password: guarded.password })
    await guarded.call('POST', '/api/auth/totp/confirm', { code: totpCode(secret, market.world.now()) })

    writeFileSync(join(folder, 'body.json'), '{}')
    const state = join(folder, '.marketplace')
    mkdirSync(state)
    const someone = { id: 'x', email: 'x@example.com', password: 'x', apiKey: 'svc_x' }
    const accounts = { buyer: someone, builder: someone, admin: someone }
    const kept = { url: 'http://127.0.0.1:1', db: '.marketplace/dev.db', instance: 'x', accounts, agents: [] }
    writeFileSync(join(state, 'credentials.json'), JSON.stringify(kept))
    writeFileSync(join(state, 'dev.db'), '')
    const signIn = ['login', '--url', url, '--email', admin.email, '--password-stdin']
    assert.is((await run(signIn, folder, {}, admin.password)).code, 0)
    const filesBefore = files(folder)

    const there = ['--url', url]
    const asAnn = [...there, '--key', ann.key ?? '']
    const atMarket = (cases: readonly Case[], flags: readonly string[]) =>
      cases.map(one => ({ ...one, words: [...one.words, ...flags] }))
    const login = ['login', ...there, '--email']
    const cases: Case[] = [
      { words: ['login', ...there], at: 'Email:' },
      { words: [...login, ann.email], at: 'Password:' },
      { words: [...login, guarded.email], before: [['Password:', `${guarded.password}\r`]], at: 'recovery code:' },
      { words: ['register', ...there, '--name', 'Cleo'], at: 'Email:' },
      { words: ['register', ...there, '--name', 'Cleo', '--email', 'cleo@example.com'], at: 'Password:' },
      { words: ['secret', 'rotate', 'test-writer', ...asAnn], at: 'Make one?' },
      { words: ['dev', '--reset', '--port', '0'], at: 'Delete them?' },
      ...atMarket(agentCases, asAnn),
      ...atMarket(rowCases, there),
      ...secretCases,
    ]
    changes.length = 0
    const file = join(folder, 'commands.json')
    writeFileSync(file, JSON.stringify(cases.map(({ words }) => words)))
    const talk = cases.flatMap(({ before = [], at }) => [...before, [at, CTRL_C] as const])
    const shown = await typeInto(shellLine(process.execPath, DRIVER, file), folder, talk)
    for (const [at, { words }] of cases.entries()) {
      const end = new RegExp(`Interrupted(?:; no agent was made)?\\.\\r?\\n\\[${at}: 130, the terminal is as before\\]`)
      assert.match(shown, end, `${words.join(' ')}: ${shown}`)
    }
    assert.equal(changes, ['POST /api/auth/login'], 'the password of an account that has a second factor')
    assert.equal(files(folder), [...filesBefore, 'commands.json'].sort())
    await market.close()
  }),
)

const CTRL_C = '\x03'

const files = (folder: string) => (readdirSync(folder, { recursive: true }) as string[]).sort()

const nobody: [words: string[], flag: string][] = [
  [['login'], '--password-stdin'],
  [['login', '--email', 'ann@example.com'], '--password-stdin'],
  [['register', '--name', 'Ann'], '--password-stdin'],
  [['agents', 'create'], '--name, --tagline, --description, --base-price, --category'],
  ...rows.map(({ words, questions }): [string[], string] => [
    words,
    questions.at(-1)!.startsWith('Go on') ? '--yes' : '--password-stdin',
  ]),
  ...secretCases.map(({ words }): [string[], string] => [words, '--secret-file']),
]

test(
  'where nobody can be asked, each command names the flag that answers',
  inFolder(async folder => {
    const market = await openTestMarketplace()
    const { admin, url } = market
    const ann = await market.join('ann')
    await market.list(ann)
    writeFileSync(join(folder, 'body.json'), '{}')
    const signIn = ['login', '--url', url, '--email', admin.email, '--password-stdin']
    assert.is((await run(signIn, folder, {}, admin.password)).code, 0)
    const env = { MARKETPLACE_URL: url }
    for (const [words, flag] of [
      ...nobody,
      [['secret', 'rotate', 'test-writer', '--key', ann.key ?? ''], '--yes'] as [string[], string],
    ]) {
      const { code, out, err } = await run(words, folder, env)
      assert.is(code, 2, `${words.join(' ')}: ${err}`)
      assert.ok(err.includes(flag), `${words.join(' ')} names ${flag}: ${err}`)
      assert.is(out, '')
    }
    assert.ok(existsSync(join(folder, 'config')))
    assert.is(readFileSync(join(folder, 'body.json'), 'utf8'), '{}')
    await market.close()
  }),
)

test.run()
