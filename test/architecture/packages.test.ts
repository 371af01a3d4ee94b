// engines: embedded; process: own
/** Which packages there are: one file or folder knows each, the lock holds all that they name, and none runs a script. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { code, type Files, importsOf, room, sources } from './sources.ts'

/** The one file, or folder, that knows a package, once it is used at all. */
const knownBy: Readonly<Record<string, string>> = {
  'sql.js': 'src/store/embedded/sqljs-internals.ts',
  pg: 'src/store/postgres/',
  polka: 'src/web/server.ts',
  'node-cron': 'src/world/cron.ts',
  undici: 'src/world/egress/',
  nodemailer: 'src/world/mail.ts',
  aws4fetch: 'src/world/bucket.ts',
  commander: 'src/cli/parser.ts',
  'lru-cache': 'src/shared/bounded-cache.ts',
  otpauth: 'src/market/accounts/totp.ts',
  '@opentelemetry/api': 'src/open/tracing.ts',
  '@zxcvbn-ts/language-common': 'src/market/accounts/common-passwords.ts',
}

/** Rooms that run elsewhere too, and the packages that they may have. */
const allowedIn: Readonly<Record<string, readonly string[]>> = { api: ['zod'], client: [] }

const packageOf = (name: string) => name.match(/^(?:@[^/]+\/)?[^/]+/)![0]

/** A file, or all files of a folder: `src/store/postgres/`. */
const isOrLiesIn = (path: string, home: string) => path === home || (home.endsWith('/') && path.startsWith(home))

function packageFaults(files: Files): string[] {
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    const names = new Set(importsOf(text).filter(name => !name.startsWith('.') && !name.startsWith('node:')))
    for (const name of new Set([...names].map(packageOf))) {
      const home = knownBy[name]
      if (home && !isOrLiesIn(path, home)) faults.push(`${path} knows ${name}, which is for ${home}`)
    }
    const allowed = allowedIn[room(path)]
    if (allowed) for (const name of names) if (!allowed.includes(name)) faults.push(`${path} imports ${name}`)
  }
  return [...faults, ...forgotten(files)]
}

function forgotten(files: Files): string[] {
  return Object.entries(knownBy).flatMap(([name, home]) => {
    const texts = Object.entries(files).filter(([path]) => isOrLiesIn(path, home))
    const known = texts.flatMap(([, text]) => importsOf(text).map(packageOf))
    return texts.length > 0 && !known.includes(name) ? [`${home} forgot ${name}`] : []
  })
}

interface Locked {
  dev?: boolean
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}
type Lock = Readonly<Record<string, Locked>>

function lockFaults(lock: Lock): string[] {
  const faults: string[] = []
  for (const [path, { dev, hasInstallScript, optionalDependencies }] of Object.entries(lock)) {
    if (hasInstallScript && !dev) faults.push(`${path} has an install script`)
    for (const name of Object.keys(optionalDependencies ?? {})) {
      if (!isLocked(lock, path, name)) faults.push(`${path} names ${name}, which is not locked`)
    }
  }
  return faults
}

/** Where a package is looked for: beside its user, then in every folder above. */
function isLocked(lock: Lock, user: string, name: string): boolean {
  for (let folder = user; ; folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    if (`${folder}${folder && '/'}node_modules/${name}` in lock) return true
    if (folder === '') return false
  }
}

/** A member that begins with an underscore, or a file deep in a package; C functions of SQLite are looked for when it is loaded. */
const PRIVATE = /(?<!\bcall)\._[a-z]\w*|\{ _[a-z]\w*:|'(?:pg|undici|polka)\/[^']+'/

const privateFaults = (files: Files) =>
  Object.entries(files).flatMap(([path, text]) => {
    const found = path.endsWith('-internals.ts') ? null : PRIVATE.exec(code(text))
    return found ? [`${path} uses ${found[0]}: what is private to a package stands in a file named …-internals.ts`] : []
  })

const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages

test('one file or folder knows each of the packages that could be changed for another', () => {
  assert.equal(packageFaults(sources), [])
  assert.equal(packageFaults({ 'src/store/postgres/x.ts': "import pg from 'pg'" }), [])
  assert.is(packageFaults({ 'src/store/postgresque.ts': "import pg from 'pg'" }).length, 1)
  assert.is(packageFaults({ 'src/store/a.ts': "import sql from 'sql.js/dist/sql-wasm.js'" }).length, 1)
  assert.is(packageFaults({ 'src/market/a.ts': "import type { Pool } from 'undici'" }).length, 1)
  assert.is(packageFaults({ 'src/web/server.ts': "import http from 'node:http'" }).length, 1)
  assert.is(packageFaults({ 'src/api/a.ts': "import pino from 'pino'" }).length, 1)
  assert.is(packageFaults({ 'src/client/a.ts': "import { z } from 'zod'" }).length, 1)
})

test('what is private to a package is used in a file that is named after it', () => {
  assert.equal(privateFaults(sources), [])
  const inFile = (text: string, path = 'src/web/a.ts') => privateFaults({ [path]: text }).length
  assert.is(inFile('const counted = socket._handle'), 1)
  assert.is(inFile('const { _httpMessage: started } = socket'), 1)
  assert.is(inFile("import('undici/lib/dispatcher/pool.js')"), 1)
  assert.is(inFile('const counted = socket._handle', 'src/web/sockets/node-internals.ts'), 0)
  assert.is(inFile('// not socket._handle'), 0)
})

test('the lock holds every optional package that it names, and nothing that is used runs a script', () => {
  assert.equal(lockFaults(lock), [])
  assert.ok(Object.values(lock).some(({ optionalDependencies }) => optionalDependencies))
  assert.is(lockFaults({ 'node_modules/a': { hasInstallScript: true } }).length, 1)
  assert.equal(lockFaults({ 'node_modules/a': { hasInstallScript: true, dev: true } }), [])
  const user = { optionalDependencies: { b: '1' } }
  assert.is(lockFaults({ 'node_modules/a': user }).length, 1)
  assert.equal(lockFaults({ 'node_modules/a': user, 'node_modules/b': {} }), [])
  assert.equal(lockFaults({ 'node_modules/c/node_modules/@x/a': user, 'node_modules/c/node_modules/b': {} }), [])
  assert.is(lockFaults({ 'node_modules/a': user, 'node_modules/c/node_modules/b': {} }).length, 1)
})

test.run()
