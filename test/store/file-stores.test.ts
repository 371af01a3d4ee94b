// engines: embedded; process: own
/** Where uploaded files lie: in a folder of this machine or in an object store; and what a start that is refused takes back. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { backupFile } from '../../src/store/embedded/backup.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { noteFresh } from '../../src/store/embedded/fresh-files.ts'
import { lockFile } from '../../src/store/embedded/lock.ts'
import { type Objects, openObjectFiles } from '../../src/store/files/bucket.ts'
import { compareFiles } from '../../src/store/files/compare.ts'
import { openLocalFiles } from '../../src/store/files/folder.ts'
import { inFolder, unexpected } from './folder.ts'
import { openUnder } from './open-files.ts'

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )

test(
  'files of a folder are kept under their ids, read and removed; what was arriving goes at a start and at an end',
  inFolder(async path => {
    const folder = `${path}.files`
    mkdirSync(join(folder, 'incoming'), { recursive: true })
    writeFileSync(join(folder, 'incoming', 'old'), 'x')
    writeFileSync(join(folder, 'f0'), 'zero')
    const files = await openLocalFiles(folder)
    assert.is(files.incoming, join(folder, 'incoming'))
    assert.equal(readdirSync(files.incoming), [])
    assert.is(statSync(files.incoming).mode & 0o777, 0o700)
    writeFileSync(join(files.incoming, 'a'), 'one')
    await files.keep('f1', join(files.incoming, 'a'))
    assert.equal([readdirSync(files.incoming), readdirSync(folder).sort()], [[], ['f0', 'f1', 'incoming']])
    assert.equal([await text(await files.read('f1')), await text(await files.read('f0'))], ['one', 'zero'])
    assert.is(await code(files.read('f2')), 'ENOENT')
    await files.remove('f1')
    await files.remove('f1')
    assert.is(await code(files.keep('f3', join(files.incoming, 'none'))), 'ENOENT')
    await files.close()
    assert.equal(readdirSync(folder), ['f0'])
    assert.equal(openUnder(folder), [])
  }),
)

test('a temporary folder of files goes when it is closed', async () => {
  const files = await openLocalFiles(null)
  const folder = dirname(files.incoming)
  assert.match(basename(folder), /^marketplace-files-/)
  assert.is(dirname(folder), tmpdir())
  writeFileSync(join(files.incoming, 'a'), 'one')
  await files.keep('f1', join(files.incoming, 'a'))
  await files.close()
  assert.not(existsSync(folder))
})

test('objects are put before what arrived is removed; what killed processes left goes by its age, living ones’ stays', async () => {
  const kept = new Map<string, string>()
  let closed = 0
  const objects: Objects = {
    put: async (key, path) => void kept.set(key, readFileSync(path, 'utf8')),
    get: async key => Readable.from([kept.get(key)!]),
    remove: async key => void kept.delete(key),
    close: async () => void closed++,
  }
  const left = await mkdtemp(join(tmpdir(), 'marketplace-incoming-'))
  const others = await mkdtemp(join(tmpdir(), 'another-incoming-'))
  for (const folder of [left, others]) {
    for (const [name, seconds] of [
      ['old', 100],
      ['edge', 200],
      ['young', 300],
    ] as const) {
      writeFileSync(join(folder, name), 'x')
      utimesSync(join(folder, name), seconds, seconds)
    }
  }
  const files = await openObjectFiles(objects, 200_000)
  assert.equal(
    [readdirSync(left).sort(), readdirSync(others).sort()],
    [
      ['edge', 'young'],
      ['edge', 'old', 'young'],
    ],
  )
  assert.match(basename(files.incoming), /^marketplace-incoming-/)
  const arrived = join(files.incoming, 'a')
  writeFileSync(arrived, 'one')
  await files.keep('f1', arrived)
  assert.equal([kept.get('f1'), existsSync(arrived)], ['one', false])
  assert.is(await text(await files.read('f1')), 'one')
  await files.remove('f1')
  assert.is(kept.size, 0)
  writeFileSync(arrived, 'two')
  await files.close()
  assert.equal([closed, existsSync(files.incoming)], [1, false])
  const again = await openObjectFiles(objects, 400_000)
  assert.equal(readdirSync(left), [])
  await again.close()
})

const opened = (file: string) => openSqlite({ file, onFatal: unexpected })

test(
  'a start that is refused leaves nothing where nothing was',
  inFolder(async file => {
    const folder = dirname(file)
    const take = await noteFresh(file, `${file}.files`)
    await (await opened(file)).close()
    writeFileSync(`${file}.key`, 'k')
    mkdirSync(`${file}.files`)
    assert.ok(readdirSync(folder).includes('market.db.journal'))
    await take()
    assert.equal([readdirSync(folder), openUnder(folder)], [[], []])
  }),
)

test(
  'a start that is refused takes nothing that was there before, or that has something in it by now',
  inFolder(async file => {
    const folder = dirname(file)
    writeFileSync(`${file}.key`, 'k')
    mkdirSync(`${file}.files`)
    const take = await noteFresh(file, `${file}.files`)
    await (await opened(file)).close()
    await take()
    assert.equal(readdirSync(folder).sort(), ['market.db.files', 'market.db.key'])
    const full = await noteFresh(file, `${file}.other`)
    mkdirSync(`${file}.other`)
    writeFileSync(`${file}.other/f`, 'x')
    await full()
    assert.equal(readdirSync(`${file}.other`), ['f'])
    for (const part of ['', '.journal', '.journal.sealed']) {
      writeFileSync(file + part, 'x')
      const none = await noteFresh(file, `${file}.none`)
      writeFileSync(`${file}.more`, '')
      await none()
      assert.ok(existsSync(file + part), part)
      rmSync(file + part)
    }
  }),
)

test(
  'a start that is refused leaves what another has opened meanwhile',
  inFolder(async file => {
    const take = await noteFresh(file, `${file}.files`)
    await (await opened(file)).close()
    const lock = await lockFile(file, 'another')
    await take()
    assert.ok(existsSync(`${file}.journal`))
    await lock.release()
    await take()
    assert.not(existsSync(`${file}.journal`))
  }),
)

const copying = (folder: string, ...names: string[]) => ({
  folder,
  async *named() {
    yield* names
  },
})

test(
  'a backup has the files that its rows name, and no others; what is missing is told',
  inFolder(async file => {
    await (await opened(file)).close()
    const from = `${file}.files`
    mkdirSync(join(from, 'incoming'), { recursive: true })
    for (const name of ['f1', 'f2', 'f3', 'folder.id', 'folder.lock']) writeFileSync(join(from, name), name)
    const files = copying(from, 'f1', 'f4', 'f2')
    const made = await backupFile(file, `${file}.copy`, files)
    assert.equal(made, { bytes: statSync(`${file}.copy`).size, files: 2, missing: { count: 1, names: ['f4'] } })
    assert.equal(readdirSync(`${file}.copy.files`).sort(), ['f1', 'f2'])
    assert.is(readFileSync(`${file}.copy.files/f2`, 'utf8'), 'f2')
    assert.is(statSync(`${file}.copy.files`).mode & 0o777, 0o700)
    for (const part of ['', '.journal', '.journal.sealed', '-wal', '-journal']) {
      writeFileSync(`${file}.x${part}`, '')
      assert.match(await code(backupFile(file, `${file}.x`, files)), `${file}.x${part} exists already`)
      rmSync(`${file}.x${part}`)
    }
    assert.equal(openUnder(dirname(file)), [])
  }),
)

test(
  'a backup of a database without files has an empty folder for them, and takes no folder of others',
  inFolder(async file => {
    await (await opened(file)).close()
    assert.is((await backupFile(file, `${file}.copy`, null)).files, 0)
    assert.equal(readdirSync(`${file}.copy.files`), [])
    await (await opened(`${file}.copy`)).close()
    mkdirSync(`${file}.other.files`)
    writeFileSync(`${file}.other.files/f1`, 'mine')
    assert.match(await code(backupFile(file, `${file}.other`, null)), `${file}.other.files exists already`)
    assert.equal(readdirSync(`${file}.other.files`), ['f1'])
    // As one that was cut off leaves them.
    writeFileSync(`${file}.other.partial`, '')
    await backupFile(file, `${file}.other`, null)
    assert.not(existsSync(`${file}.other.partial`))
  }),
)

test(
  'a backup that fails leaves nothing behind',
  inFolder(async file => {
    await (await opened(file)).close()
    const before = readdirSync(dirname(file))
    const files = copying(`${file}.files`, 'f1')
    const failing = {
      ...files,
      async *named() {
        yield* files.named()
        throw new Error('the disk is full')
      },
    }
    assert.match(await code(backupFile(file, `${file}.copy`, failing)), 'the disk is full')
    assert.equal(readdirSync(dirname(file)), before)
  }),
)

test(
  'a folder is compared with the rows: what is missing, cut or left over is told',
  inFolder(async file => {
    const folder = `${file}.files`
    const kept = (id: string, size: number) => ({ id, size, name: id, mimeType: 'text/plain' })
    const rows = async function* () {
      yield* [kept('whole', 5), kept('cut', 5), kept('gone', 5), kept('folder', 0)]
    }
    const none = { count: 0, names: [] }
    assert.equal(await compareFiles(folder, rows(), new Set()), {
      named: 4,
      missing: { count: 4, names: ['whole', 'cut', 'gone', 'folder'] },
      otherSize: none,
      leftOver: none,
    })
    mkdirSync(join(folder, 'folder'), { recursive: true })
    for (const name of ['whole', 'folder.id', 'arrives', 'spare']) writeFileSync(join(folder, name), '12345')
    writeFileSync(join(folder, 'cut'), '1234')
    assert.equal(await compareFiles(folder, rows(), new Set(['arrives'])), {
      named: 4,
      missing: { count: 2, names: ['gone', 'folder'] },
      otherSize: { count: 1, names: ['cut'] },
      leftOver: { count: 1, names: ['spare'] },
    })
    for (let i = 0; i < 30; i++) writeFileSync(join(folder, `spare ${i}`), '')
    const { leftOver } = await compareFiles(folder, rows(), new Set(['arrives']))
    assert.equal([leftOver.count, leftOver.names.length], [31, 20])
  }),
)

test.run()
