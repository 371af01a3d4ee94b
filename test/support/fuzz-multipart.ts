/** Multipart bodies: right ones with real files, and ones broken at every joint. */
import type { Chance } from '../../src/world/chance.ts'
import { samples } from '../web/files.ts'

export interface Multipart {
  type: string
  body: Buffer
}

const BOUNDARY = 'X-fuzz-7MA4YWxk'

const oddNames = [
  ...['', '.', '..', '../../etc/passwd', 'a/b.png', 'a\\b.png', '.htaccess', 'con', 'x'.repeat(300), 'no extension'],
  ...['a.exe', 'a.png.exe', 'a.exe.png', 'größe.csv', '%2e%2e%2f.csv', 'a"b.csv', 'a\0.png', '\u202egnp.exe', 'A.PNG'],
]

const oddTypes = [
  ...['multipart/form-data', 'multipart/form-data; boundary=', `multipart/form-data; boundary="${BOUNDARY}`],
  ...[
    'multipart/form-data; boundary=other',
    `multipart/mixed; boundary=${BOUNDARY}`,
    'multipart/form-data; boundary===',
  ],
  ...[`multipart/form-data; boundary=${'b'.repeat(300)}`, `multipart/form-data; boundary=${BOUNDARY}; boundary=b`],
  ...[`MULTIPART/FORM-DATA; BOUNDARY=${BOUNDARY}`, `multipart/form-data; charset=utf-16; boundary=${BOUNDARY}`],
]

/** A form with the fields given and up to six files; sometimes it is no form any more. A sound one has files that are taken. */
export function multipartMaker({ fraction }: Pick<Chance, 'fraction'>) {
  const below = (count: number) => Math.floor(fraction() * count)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const maybe = (share: number) => fraction() < share
  const kinds = Object.keys(samples)

  function file(): Buffer {
    const kind = pick(kinds)
    const name = maybe(0.7) ? `file.${maybe(0.8) ? kind : pick(kinds)}` : pick(oddNames)
    const bytes = samples[kind]!
    const content = maybe(0.8)
      ? bytes
      : pick([bytes.subarray(0, below(bytes.length)), Buffer.alloc(0), Buffer.alloc(4_000, 13)])
    return part(maybe(0.97) ? 'files' : pick(['file', 'files[]', '', '__proto__']), content, name)
  }

  function part(name: string, content: Buffer, fileName?: string): Buffer {
    const told = fileName === undefined ? '' : `; filename="${fileName}"`
    const disposition = `Content-Disposition: form-data; name="${name}"${told}`
    const head = maybe(0.93)
      ? disposition
      : pick([
          '',
          'Content-Disposition: form-data',
          `${disposition}\r\n${disposition}`,
          'X: y',
          `${disposition}; filename*=utf-8''%ff`,
        ])
    const more = maybe(0.9)
      ? ''
      : pick([
          '\r\nContent-Type: text/plain; charset=nonsense',
          '\r\nContent-Transfer-Encoding: base64',
          `\r\nX: ${'y'.repeat(90_000)}`,
        ])
    return Buffer.concat([Buffer.from(`${head}${more}\r\n\r\n`), content])
  }

  function broken(body: Buffer): Buffer {
    const at = below(body.length)
    return pick<() => Buffer>([
      () => body.subarray(0, at),
      () => Buffer.concat([body.subarray(0, at), body.subarray(at + 1 + below(20))]),
      () => Buffer.concat([body.subarray(0, at), Buffer.from([below(256)]), body.subarray(at + 1)]),
      () => Buffer.concat([body, body]),
      () => Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
      () => Buffer.alloc(0),
      () => Buffer.from(`--${BOUNDARY}--`),
      () => Buffer.from(`--${BOUNDARY}\r\n`.repeat(500)),
    ])()
  }

  function soundPart(name: string, content: Buffer, fileName?: string): Buffer {
    const told = fileName === undefined ? '' : `; filename="${fileName}"`
    return Buffer.concat([Buffer.from(`Content-Disposition: form-data; name="${name}"${told}\r\n\r\n`), content])
  }

  function soundFile(): Buffer {
    const kind = pick(kinds)
    return soundPart('files', samples[kind]!, `file.${kind}`)
  }

  return (fields: Readonly<Record<string, unknown>>, sound: boolean): Multipart => {
    const [onePart, oneFile] = sound ? [soundPart, soundFile] : [part, file]
    const parts = Object.entries(fields).map(([name, value]) => onePart(name, Buffer.from(String(value))))
    for (let i = pick(sound ? [1, 1, 2] : [0, 1, 1, 1, 2, 6]); i > 0; i--)
      parts.splice(below(parts.length + 1), 0, oneFile())
    const between = parts.flatMap(one => [Buffer.from(`--${BOUNDARY}\r\n`), one, Buffer.from('\r\n')])
    const body = Buffer.concat([...between, Buffer.from(`--${BOUNDARY}--\r\n`)])
    if (sound) return { type: `multipart/form-data; boundary=${BOUNDARY}`, body }
    const type = maybe(0.93) ? `multipart/form-data; boundary=${BOUNDARY}` : pick(oddTypes)
    return { type, body: maybe(0.7) ? body : broken(body) }
  }
}
