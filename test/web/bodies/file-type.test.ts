// engines: embedded; process: shared
/** What is said of a file by its name and its bytes. Source: I-file-kinds, A-22. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type FileKind, fileKinds } from '../../../src/api/file-kinds.ts'
import { limits } from '../../../src/api/limits.ts'
import { isSystemError, judgeFile, plainName } from '../../../src/web/bodies/file-type.ts'
import { samples } from '../files.ts'

const folder = mkdtempSync(join(tmpdir(), 'marketplace-kinds-'))
const path = join(folder, 'file')
const test = suite('file type')
test.after(() => rmSync(folder, { recursive: true }))

async function judged(name: string, bytes: Buffer | string): Promise<string> {
  writeFileSync(path, bytes)
  const found = await judgeFile(name, path, bytes.length)
  return typeof found === 'string' ? found : found.mimeType
}

/** What each kind's own bytes, none, none that anybody knows, and a picture's are taken for. */
const expected = ({ extensions: [first], judged: { by }, mimeType }: FileKind, name: string) => ({
  own: mimeType,
  none: `${name}: the file is empty`,
  unknown:
    by === 'text'
      ? mimeType
      : `${name}: ${by === 'svg' ? 'it has no svg element' : `its bytes are of no known kind, not of .${first}`}`,
  picture:
    first === 'gif'
      ? mimeType
      : by === 'text' || by === 'svg'
        ? `${name}: it contains NUL`
        : `${name}: its bytes are those of .gif, not of .${first}`,
})

test('each kind takes its own bytes under each of its extensions, and says what others are', async () => {
  for (const kind of fileKinds) {
    const [first] = kind.extensions
    for (const extension of kind.extensions) {
      const name = `a.${extension === first ? extension : extension.toUpperCase()}`
      const found = {
        own: await judged(name, samples[first!]!),
        none: await judged(name, ''),
        unknown: await judged(name, 'nothing in particular'),
        picture: await judged(name, samples.gif!),
      }
      assert.equal(found, expected(kind, name))
    }
  }
})

test('bytes that end within their signature are of no known kind, and text is told by what is wrong with it', async () => {
  const cases: readonly (readonly [name: string, bytes: Buffer | string, said: string])[] = [
    ['a.png', samples.png!.subarray(0, 4), 'a.png: its bytes are of no known kind, not of .png'],
    ['a.docx', samples.zip!, 'a.docx: its bytes are those of .zip, not of .docx'],
    ['a.doc', samples.docx!, 'a.doc: its bytes are those of .docx, not of .doc'],
    ['a.tgz', samples.zip!, 'a.tgz: its bytes are those of .zip, not of .gz'],
    ['a.csv', 'a\0b', 'a.csv: it contains NUL'],
    ['a.xml', Buffer.from([0x3c, 0xff, 0x3e]), 'a.xml: it is not valid UTF-8'],
    ['a.csv', Buffer.from('é').subarray(0, 1), 'a.csv: it is not valid UTF-8'],
    ['a.svg', '<SVG>', 'image/svg+xml'],
    ['a.svg', '<svgs>', 'a.svg: it has no svg element'],
    ['a.exe', 'MZ', 'a.exe: files of this kind are not accepted'],
    ['a.png.', samples.png!, 'a.png.: files of this kind are not accepted'],
    ['README', '', 'README: files of this kind are not accepted'],
  ]
  for (const [name, bytes, said] of cases) assert.is(await judged(name, bytes), said)
})

test('a file that the disk does not give is no fault of its sender', async () => {
  for (const name of ['a.png', 'a.csv', 'a.svg']) {
    const error = await judgeFile(name, join(folder, 'none'), 1).catch((error: unknown) => error)
    assert.is(isSystemError(error), true, name)
  }
})

test('a name is the last part of its path, unescaped as browsers escape it, or none', () => {
  const longest = 'é'.repeat(limits.fileName)
  const names: Readonly<Record<string, string | null>> = {
    'a.png': 'a.png',
    '/etc/a.png': 'a.png',
    'C:\\files\\a.png': 'a.png',
    '.png': '.png',
    'say %22hi%22 100%25.csv': 'say "hi" 100%25.csv',
    [longest]: longest,
    [`${longest}é`]: null,
    '': null,
    '.': null,
    '..': null,
    'files/': null,
    'a%0d.csv': null,
    'a%0A.csv': null,
    'a\u202egnp.csv': null,
    'a\u009f.csv': null,
    'a\ud800.csv': null,
  }
  for (const [given, name] of Object.entries(names)) assert.is(plainName(given), name, JSON.stringify(given))
})

test.run()
