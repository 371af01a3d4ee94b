// engines: embedded; process: own
/** What the servers of tests find, and what they leave behind. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { link, removeLeft } from './postgres-server.ts'

test('the data of a run that was killed is removed by the next; that of one which goes on stays', () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-left-'))
  const { pid: gone } = spawnSync('true')
  const named = (pid: number) => `marketplace-postgres-${pid}-a1B2c3`
  for (const name of [named(gone), named(process.pid), 'something else'])
    mkdirSync(join(place, name, 'base'), { recursive: true })
  removeLeft(place)
  assert.equal(readdirSync(place).sort(), [named(process.pid), 'something else'].sort())
  rmSync(place, { recursive: true })
})

test('a Postgres whose install script did not run gets its links, and keeps those that it has', () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-links-'))
  const lib = join(place, 'native', 'lib')
  mkdirSync(lib, { recursive: true })
  writeFileSync(join(lib, 'libpq.so.5.18'), 'the library')
  const links = ['lib/libpq.so', 'libpq.so.5'].map(name => ({
    source: 'native/lib/libpq.so.5.18',
    target: `native/${name}`,
  }))
  writeFileSync(join(place, 'native', 'pg-symlinks.json'), JSON.stringify(links))
  for (const _run of ['first', 'second']) {
    link(place)
    for (const { target } of links) assert.is(readFileSync(join(place, target), 'utf8'), 'the library')
  }
  link(join(place, 'of', 'no', 'package'))
  rmSync(place, { recursive: true })
})

test.run()
