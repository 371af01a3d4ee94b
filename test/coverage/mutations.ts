/**
 * Makes each mutation in a copy of the source, runs the first test file of its row there, and demands that a test fails.
 * Arguments narrow it to the rows that hold one of them; `--list` only prints those.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { editsOf, engineOf, heldBy, type Row } from './row.ts'
import { rows } from './rows.ts'

const TIMEOUT_MS = 90_000
const COPIED = ['src', 'test', 'fixtures', 'package.json', 'tsconfig.json']
const words = process.argv.slice(2).filter(word => word !== '--list')
const wanted = rows.filter(
  ([what, , file]) => words.length === 0 || words.some(word => `${what} ${file}`.includes(word)),
)

let postgres: PostgresServer | null = null

/** `broken`: it did not even get to its tests, which proves nothing of them. */
type End = 'killed' | 'hung' | 'another test' | 'survived' | 'broken'

/** What a test file says, to its end: a test that fails may leave a marketplace open, and its process with it. */
function output(folder: string, file: string, engine: string): Promise<{ text: string; code: number | null }> {
  const args = ['--import', 'tsx', `test/${file}`]
  const env = { ...process.env, TEST_ENGINE: engine, ...(postgres && { TEST_DATABASE_URL: postgres.url }) }
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const hear = (chunk: Buffer) => {
    text += chunk
    if (/^ *Duration:/m.test(text)) setTimeout(() => child.kill('SIGKILL'), 500)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const deadline = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  return new Promise(done => {
    child.on('close', code => {
      clearTimeout(deadline)
      done({ text, code })
    })
  })
}

async function judge(folder: string, row: Row): Promise<End> {
  const { file, names } = heldBy(row)[0]!
  const { text, code } = await output(folder, file, engineOf(row))
  const count = (word: string) => Number(text.match(new RegExp(`^ *${word}: +(\\d+)`, 'm'))?.[1] ?? -1)
  if (count('Total') === -1) return code === null ? 'hung' : 'broken'
  if (count('Total') === count('Passed')) return 'survived'
  const failed = [...text.matchAll(/FAIL +[^"\n]*"(.*)"/g)].map(match => match[1]!)
  return failed.some(name => name.startsWith(names)) ? 'killed' : 'another test'
}

async function mutate(folder: string, row: Row): Promise<End> {
  try {
    for (const [file, from, to] of editsOf(row)) {
      const path = join(folder, 'src', file)
      const source = readFileSync(path, 'utf8')
      if (source.split(from).length !== 2) throw new Error(`${row[0]}: its text is not in src/${file} exactly once`)
      writeFileSync(
        path,
        source.replace(from, () => to),
      )
    }
    return await judge(folder, row)
  } finally {
    for (const [file] of editsOf(row)) cpSync(join('src', file), join(folder, 'src', file))
  }
}

async function work(queue: Row[], ends: Map<Row, End>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mutations-'))
  try {
    for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    for (let row = queue.shift(); row; row = queue.shift()) {
      const end = await mutate(folder, row)
      ends.set(row, end)
      console.log(
        `${end === 'killed' || end === 'hung' ? 'ok  ' : 'FAIL'} ${end.padEnd(12)} ${row[0]}  (${heldBy(row)[0]!.file})`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv.includes('--list')) for (const [what] of wanted) console.log(what)
else {
  postgres = wanted.some(row => engineOf(row) === 'postgres') ? await startPostgres() : null
  const ends = new Map<Row, End>()
  const queue = [...wanted]
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, () => work(queue, ends))).finally(() =>
    postgres?.stop(),
  )
  const alive = wanted.filter(row => !['killed', 'hung'].includes(ends.get(row) ?? ''))
  console.log(`\n${wanted.length - alive.length} of ${wanted.length} mutations were noticed by the test of their row`)
  for (const [what] of alive) console.log(`not: ${what}`)
  process.exitCode = alive.length > 0 || wanted.length === 0 ? 1 : 0
}
