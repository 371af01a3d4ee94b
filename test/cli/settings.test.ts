// engines: embedded; process: shared
/** Where a command's settings come from: flag, environment, `.env`, project file, default. Source: A-2. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { served } from '../../src/cli/command-line/options.ts'
import { projectNames, readSettings, remarksOn } from '../../src/settings/config.ts'
import { sameNames } from '../support/same-names.ts'
import { inFolder, run, runRefused, start } from './program.ts'

const project = (folder: string, settings: unknown) =>
  writeFileSync(join(folder, 'marketplace.json'), typeof settings === 'string' ? settings : JSON.stringify(settings))

test(
  'a project file goes over the defaults, .env over it, the environment over .env, and a flag over all',
  inFolder(async folder => {
    project(folder, { db: 'file.db', port: 0, json: true, 'rate-limits': 'warn' })
    const dbOf = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
      const { child, ended, firstLine } = start(['serve', ...args], folder, env)
      const { db } = JSON.parse(await firstLine)
      child.kill('SIGTERM')
      assert.is((await ended).code, 0)
      return db
    }
    assert.is(await dbOf([], {}), 'file.db')
    writeFileSync(join(folder, '.env'), 'MARKETPLACE_DB=dotenv.db\n')
    assert.is(await dbOf([], {}), 'dotenv.db')
    const environment = { MARKETPLACE_DB: 'environment.db' }
    assert.is(await dbOf([], environment), 'environment.db')
    assert.is(await dbOf(['--db', 'flag.db'], environment), 'flag.db')
    writeFileSync(join(folder, '.env'), '')
    // By another name it is the environment all the same.
    const postgres = await runRefused(['serve'], folder, { DATABASE_URL: 'postgres://x/y' })
    assert.match(postgres.out, 'MARKETPLACE_SECRET_KEY')
  }),
)

test(
  'a # inside a word of .env belongs to it, as for shells and systemd; after a space it begins a comment',
  inFolder(async folder => {
    for (const [line, words] of [
      ['MARKETPLACE_BRAND_COLORS=#zz', '#zz'],
      ['MARKETPLACE_BRAND_COLORS=  #1d4ed0,#zz  # two of them', '#1d4ed0,#zz'],
      ['export MARKETPLACE_PORT=40#00', '40#00'],
      ['MARKETPLACE_PORT="x#y" # quoted', 'x#y'],
      ['MARKETPLACE_PORT=x # y#z', 'x'],
    ] as const) {
      writeFileSync(join(folder, '.env'), `OTHER=1 #c\n${line}\nLAST='2'\n`)
      const { code, err } = await runRefused(['serve'], folder)
      assert.is(code, 2, line)
      assert.ok(err.includes(`not ${words}.`), err)
    }
  }),
)

test(
  'a project file that is none, or names what is no setting, is refused in a sentence',
  inFolder(async folder => {
    for (const [settings, words] of [
      [{ prot: 4100, db: 'x' }, 'marketplace.json names prot, which is no setting. It takes: host, port, db'],
      [{ baseUrl: 'https://x.example' }, 'names baseUrl'],
      [{ port: [1] }, 'port takes a text, a number, true or false'],
      ['{port: 1}', 'must hold one JSON object'],
      [[1], 'must hold one JSON object'],
      [{ port: 70_000 }, 'port of marketplace.json takes a number'],
    ] as const) {
      project(folder, settings)
      const { code, err } = await runRefused(['dev', '--ephemeral'], folder)
      assert.is(code, 2, err)
      assert.match(err, words)
    }
  }),
)

test('a project file may say whatever flag of a server has a variable, and no other', () => {
  const flags = [
    ...served('serve'),
    ['--db-prepare', ''],
    ['--db-pool', ''],
    ['--db-limit', ''],
    ['--files', ''],
    ['--metrics-port', ''],
  ]
  const names = flags.map(([flag]) => flag!.split(' ')[0]!.slice(2))
  sameNames(projectNames, [...names, 'url'])
})

test('a variable that is almost a setting is told of, and one of a command or of another version is not', () => {
  const told = (env: Record<string, string>) =>
    remarksOn(readSettings('serve', {}, env)).map(({ type, message }) => `${type}: ${message}`)
  const none = {
    MARKETPLACE_URL: 'http://127.0.0.1:1',
    MARKETPLACE_KEY: 'k',
    MARKETPLACE_JSON: '1',
    MARKETPLACE_FUTURE: '1',
  }
  assert.equal(told({ ...none, MARKETPLACE_PORT: '4001', MARKETPLACE_UPLOADS_MB: '90' }), [])
  assert.equal(told({ ...none, MARKETPLACE_UPLODS_MB: '90', MARKETPLACE_BASE_ULR: 'x' }), [
    'warning: MARKETPLACE_UPLODS_MB is no setting, so it does nothing. Did you mean MARKETPLACE_UPLOADS_MB?',
    'warning: MARKETPLACE_BASE_ULR is no setting, so it does nothing. Did you mean MARKETPLACE_BASE_URL?',
  ])
})

test(
  'MARKETPLACE_JSON and MARKETPLACE_URL are read, also from the project file, and a flag goes over them',
  inFolder(async folder => {
    const reply = await runRefused(['demo', 'more'], folder, { MARKETPLACE_JSON: 'true' })
    assert.is(reply.code, 2)
    const made = await run(['db', 'migrate', 'a.db'], folder, { MARKETPLACE_JSON: '1' })
    assert.is(JSON.parse(made.out).ok, true)
    assert.match((await run(['db', 'migrate', 'a.db'], folder, { MARKETPLACE_JSON: 'no' })).out, 'up to date')
    const odd = await run(['db', 'migrate', 'a.db'], folder, { MARKETPLACE_JSON: 'maybe' })
    assert.is(odd.code, 2)
    assert.match(odd.err, 'MARKETPLACE_JSON takes true or false, not maybe')
    project(folder, { json: true, url: 'http://127.0.0.1:1' })
    const away = await run(['agents', 'list', '--key', `svc_${'0'.repeat(48)}`], folder)
    assert.is(away.code, 5)
    assert.match(JSON.parse(away.out).hint, 'The address comes from marketplace.json')
    const named = await run(['agents', 'list', '--url', 'http://127.0.0.1:2'], folder)
    assert.match(JSON.parse(named.out).error, '127.0.0.1:2')
  }),
)

test.run()
