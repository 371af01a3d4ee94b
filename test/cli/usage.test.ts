// engines: embedded; process: shared
/** Help, and everything that is refused before anything starts. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, run, runRefused } from './program.ts'

test(
  'the built program prints its help and its version, and leaves with 0',
  inFolder(async folder => {
    const help = await run(['--help'], folder)
    assert.is(help.code, 0, help.err)
    assert.match(help.out, /^ {2}dev /m)
    assert.match((await run(['--version'], folder)).out, /^\d+\.\d+\.\d+\n$/)
    const of = async (...words: string[]) => (await run(['help', ...words], folder, { npm_command: 'exec' })).out
    assert.is(
      await of('exit-codes'),
      '0 done\n1 failed\n2 wrong usage\n3 a check failed\n4 not allowed\n5 no connection\n130 interrupted\n',
    )
    assert.match(await of('tasks', 'approve', 'task_1'), /^Usage: npx agent-marketplace tasks approve /, 'nothing runs')
    assert.match(JSON.parse(await of('agents', 'samples', '--json')).data.help, 'agents samples list')
    assert.match(await of('dev'), 'eval "$(npx agent-marketplace dev --print-env)"', 'also within a substitution')
    assert.match(await of('login'), /by `npx\s+agent-marketplace logout/)
  }),
)

const refused: [name: string, args: string[], words: string, env?: NodeJS.ProcessEnv][] = [
  ['no command', [], 'Usage: marketplace'],
  ['an unknown command', ['sevre'], "unknown command 'sevre'"],
  ['help with an unknown command', ['help', 'sevre'], "unknown command 'sevre'"],
  ['help with an unknown word of a group', ['help', 'agents', 'shwo'], 'Did you mean show?'],
  ['an unknown flag', ['serve', '--metrics', '9'], "unknown option '--metrics'"],
  ['too many words', ['demo', 'more'], 'too many arguments'],
  ['a command without its word', ['secret', 'rotate'], 'marketplace secret rotate --help'],
  ['half a command', ['agents'], 'Usage: marketplace agents'],
  [
    'an end that is none',
    ['simulate', 'buyer', 'x', '--outcome', 'win'],
    '--outcome takes approve or cancel or dispute',
  ],
  [
    'revisions of a cancelled task',
    ['simulate', 'buyer', 'x', '--outcome', 'cancel', '--revisions', '1'],
    'no --revisions',
  ],
  ['a port that is none', ['serve', '--port', '70000'], '--port takes a number'],
  [
    'a port that is none, from the environment',
    ['serve'],
    'MARKETPLACE_PORT takes a number',
    { MARKETPLACE_PORT: 'x' },
  ],
  ['Postgres without a key', ['serve', '--db', 'postgres://x/y'], 'MARKETPLACE_SECRET_KEY'],
  [
    'Postgres by its usual variable, without a key',
    ['serve'],
    'MARKETPLACE_SECRET_KEY',
    { DATABASE_URL: 'postgresql://x/y' },
  ],
  ['a reset of a server', ['dev', '--db', 'postgres://x/y', '--reset'], '--reset deletes files'],
  [
    'half a pooler',
    ['serve', '--db', 'postgres://x/y', '--db-prepare', 'maybe'],
    '--db-prepare takes auto or on or off',
  ],
  [
    'a check of a server',
    ['db', 'check', 'postgres://x/y'],
    'This command works on a file; Postgres has its own tools: pg_dump',
  ],
  ['rate limits', ['serve', '--rate-limits', 'loose'], '--rate-limits takes strict or warn or off, not loose'],
  ['trust proxy', ['serve', '--trust-proxy', 'yes'], '--trust-proxy takes the number of proxies in front'],
  ['a public host without an address', ['serve', '--host', '0.0.0.0'], '--base-url'],
  ['sandbox money in public', ['serve', '--host', '0.0.0.0', '--payments', 'sandbox'], '--payments sandbox'],
  ['dev in public', ['dev', '--host', '0.0.0.0'], 'dev listens on this machine alone'],
  ['half a mail setting', ['serve', '--port', '0'], 'go together', { MARKETPLACE_MAIL_FROM: 'a@example.com' }],
  ['half an administrator', ['serve', '--port', '0'], 'go together', { MARKETPLACE_ADMIN_EMAIL: 'a@example.com' }],
  ['an object store without credentials', ['serve', '--files', 's3://market'], 'AWS_ACCESS_KEY_ID and AWS_SECRET'],
  ['credentials in an address', ['serve', '--files', 's3://key:word@market'], 'credentials in the environment'],
  ['a bucket that is none', ['serve', '--files', 's3://Market_1/x'], '--files takes a folder, or s3://'],
  ['an unknown word about a bucket', ['serve', '--files', 's3://market?zone=1'], '--files takes a folder, or s3://'],
  [
    'an endpoint that is none',
    ['serve', '--files', 's3://market'],
    'The endpoint of the object store is an address',
    { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y', AWS_ENDPOINT_URL_S3: 'https://user:word@s3.example' },
  ],
  ['a seed that is none', ['dev', '--ephemeral', '--seed', 'x'], '--seed takes a whole number'],
  ['a scale that is none', ['dev', '--clock-scale', '0'], '--clock-scale takes a whole number from 1 to 10000, not 0'],
  ['a pace that is none', ['dev', '--retries', 'never'], '--retries takes quick or real, not never'],
]

for (const [name, args, words, env] of refused) {
  test(
    `${name} is refused with exit code 2 and a sentence`,
    inFolder(async folder => {
      const { code, out, err } = await runRefused(args, folder, env)
      assert.is(code, 2, err)
      assert.match(err, words)
      assert.is(out, '')
      assert.not.match(err, /^ +at /m)
    }),
  )
}

test.run()
