// engines: embedded; process: own
/** A key that is replaced, interrupted at every step and run again: no file of a key that was there is ever lost. Source: A-175. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keysOf } from '../../src/market/sealing.ts'
import { keyFileOf, secretKeysFor } from '../../src/open/secret-key.ts'
import type { Db } from '../../src/store/db.ts'
import { MemoryDisk } from './memory-disk.ts'
import { chance, Machine } from './page-cache.ts'

const PATH = 'market.db.key'
/** A key that somebody has spoilt, and could mend: nobody else has it. */
const SPOILT = Buffer.from(`${'A'.repeat(43)}= and what a slip has written behind it\n`)
const SEEDS = 10

/** Its proof opens with none of the keys. */
const sealed = { read: async () => 'sealed with another' } as unknown as Db

/** Replaces the key; says what is there at each moment, as an interruption of the process or of the machine leaves it. */
async function replaceOn(machine: Machine): Promise<Machine[]> {
  const disk = new MemoryDisk(machine)
  await secretKeysFor(sealed, { given: undefined, file: 'market.db', renew: true }, disk)
  const left: Machine[] = []
  for (const moment of disk.moments()) {
    left.push(moment.copy())
    for (let n = 0; n < SEEDS; n++) left.push(moment.restarted(chance(left.length)))
  }
  // What nothing has interrupted is the last.
  return [...left, disk.at(disk.log.length)]
}

const holds = (machine: Machine, bytes: Buffer) => [...machine.files().values()].some(file => file.equals(bytes))

test('the file that was there is still there, whatever interrupts its replacement, and the next, and the one after', async () => {
  const found = new Map([[PATH, SPOILT]])
  const first = await replaceOn(Machine.withFiles(found))
  assert.ok(first.length > 50, `${first.length}`)
  for (const machine of first) {
    assert.ok(holds(machine, SPOILT), `${[...machine.files().keys()]}`)
    for (const again of await replaceOn(machine)) assert.ok(holds(again, SPOILT), `${[...again.files().keys()]}`)
  }
})

test('whoever replaces a key thrice has each that was there, and the last one under the name', async () => {
  let machine = Machine.withFiles(new Map([[PATH, SPOILT]]))
  const seen: Buffer[] = []
  for (let n = 0; n < 3; n++) {
    seen.push(machine.read(PATH)!)
    machine = (await replaceOn(machine)).at(-1)!
  }
  assert.equal([...machine.files().keys()].sort(), [PATH, `${PATH}.old`, `${PATH}.old.2`, `${PATH}.old.3`])
  for (const bytes of seen) assert.ok(holds(machine, bytes))
  assert.is(Buffer.from(machine.read(PATH)!.toString().trim(), 'base64').length, 32)
})

/** Rotates the key of the machine by its file; says what each interruption leaves, and the keys that there are at its end. */
async function rotateOn(machine: Machine): Promise<{ left: Machine[]; keys: Buffer[] }> {
  const disk = new MemoryDisk(machine)
  const key = { ...(await secretKeysFor(unsealed, { given: undefined, file: 'market.db' }, disk)) }
  const keyFile = keyFileOf('market.db', key, disk)
  if (keysOf(key).length === 1) await keyFile.begin()
  const keys = keysOf(key)
  await keyFile.end()
  assert.equal(keysOf(key), keys.slice(0, 1))
  const left: Machine[] = []
  for (const moment of disk.moments())
    left.push(moment.copy(), moment.restarted(chance(left.length)), moment.restarted(chance(left.length + 1)))
  return { left: [...left, disk.at(disk.log.length)], keys }
}

const unsealed = { read: async () => undefined } as unknown as Db

test('a rotation that is interrupted loses no key: each is in the file, or set aside when only the new one is used', async () => {
  const old = Buffer.alloc(32, 1)
  const first = await rotateOn(Machine.withFiles(new Map([[PATH, Buffer.from(`${old.toString('base64')}\n`)]])))
  assert.ok(first.left.length > 20, `${first.left.length}`)
  const states = new Set<string>()
  for (const machine of first.left) {
    const text = machine.read(PATH)!.toString()
    const inFile = text.trim().split('\n')
    states.add(String(inFile.length) + inFile.includes(old.toString('base64')))
    assert.ok(
      [...machine.files()].some(([, bytes]) => bytes.toString().includes(old.toString('base64'))),
      'the old key is there',
    )
    for (const one of inFile) assert.is(Buffer.from(one, 'base64').length, 32)
    // Again, from there.
    const second = await rotateOn(machine)
    assert.ok(second.keys.length >= 2 || inFile.length === 1)
  }
  assert.equal([...states].sort(), ['1false', '1true', '2true'])
})

test.run()
