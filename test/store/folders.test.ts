// engines: embedded; process: shared
/** Folders are made with those above them, or refused in the system's words. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeFolders } from '../../src/store/folders.ts'

const root = mkdtempSync(join(tmpdir(), 'marketplace-folders-'))
test.after(() => rmSync(root, { recursive: true }))

const refusalOf = (path: string): Partial<NodeJS.ErrnoException> => {
  try {
    makeFolders(path)
    return {}
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}
const codeOf = (path: string) => refusalOf(path).code

test('what is missing is made, for this user alone if asked; what is there stays', () => {
  const path = join(root, 'one', 'two', 'three')
  for (let round = 0; round < 2; round++) makeFolders(path, 0o700)
  if (process.platform !== 'win32') assert.is(statSync(join(root, 'one')).mode & 0o777, 0o700)
})

test('a file in the way is refused', () => {
  writeFileSync(join(root, 'file'), '')
  assert.is(codeOf(join(root, 'file')), 'EEXIST')
  assert.is(codeOf(join(root, 'file', 'below', 'it')), 'ENOTDIR')
})

test('a system that makes no such folder is not asked for ever', () => {
  if (process.platform !== 'linux') return
  const { code, syscall } = refusalOf('/proc/no-such-folder/below')
  assert.equal([code, syscall], ['ENOENT', 'mkdir'])
})

test.run()
