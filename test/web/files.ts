/** Small real files of every kind that a deliverable may hold, made in memory. */
import { strToU8, zipSync } from 'fflate'

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

const zip = (files: Record<string, string>) =>
  Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))))

const office = (folder: string, type: string) =>
  zip({
    '[Content_Types].xml': `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
    [`${folder}/main.xml`]: '<x/>',
  })

const open = (type: string) => {
  const mimetype = strToU8(`application/vnd.oasis.opendocument.${type}`)
  return Buffer.from(zipSync({ mimetype: [mimetype, { level: 0 }], 'content.xml': strToU8('<x/>') }))
}

const compound = bytes([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], '\0'.repeat(600))
const box = (brand: string) => bytes([0, 0, 0, 24], 'ftyp', brand, [0, 0, 2, 0], brand, 'iso2', '\0'.repeat(64))
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function tar() {
  const head = Buffer.alloc(512)
  head.write('a.txt')
  head.write('0000644\0', 100)
  head.write('00000000000\0', 124)
  head.write('ustar\x0000', 257)
  head.write('        ', 148)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([head, Buffer.alloc(1024)])
}

/** By extension. */
export const samples: Readonly<Record<string, Buffer>> = {
  png,
  jpg: bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16], 'JFIF\0', '\0'.repeat(64)),
  gif: bytes('GIF89a', '\0'.repeat(32)),
  webp: bytes('RIFF', [36, 0, 0, 0], 'WEBPVP8 ', '\0'.repeat(32)),
  bmp: bytes('BM', '\0'.repeat(64)),
  tif: bytes('II', [0x2a, 0, 8, 0, 0, 0], '\0'.repeat(64)),
  avif: box('avif'),
  heic: box('heic'),
  svg: bytes('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  pdf: bytes('%PDF-1.4\n%%EOF'),
  csv: bytes('a,b\n1,2\n'),
  xml: bytes('<?xml version="1.0"?><a/>'),
  rtf: bytes('{\\rtf1 hello}'),
  doc: compound,
  xls: compound,
  ppt: compound,
  docx: office('word', 'wordprocessingml.document'),
  xlsx: office('xl', 'spreadsheetml.sheet'),
  pptx: office('ppt', 'presentationml.presentation'),
  odt: open('text'),
  ods: open('spreadsheet'),
  odp: open('presentation'),
  odg: open('graphics'),
  zip: zip({ 'a.txt': 'a' }),
  gz: Buffer.from('1f8b0800000000000003030000000000000000000000', 'hex'),
  tar: tar(),
  '7z': bytes('7z', [0xbc, 0xaf, 0x27, 0x1c, 0, 4], '\0'.repeat(32)),
  rar: bytes('Rar!', [0x1a, 7, 0], '\0'.repeat(32)),
  mp3: bytes('ID3', [3, 0, 0, 0, 0, 0, 0], [0xff, 0xfb, 0x90, 0x64], '\0'.repeat(512)),
  wav: bytes('RIFF', [36, 0, 0, 0], 'WAVEfmt ', '\0'.repeat(32)),
  ogg: bytes('OggS', '\0'.repeat(22), [1, 0x1e, 1], 'vorbis', '\0'.repeat(32)),
  mp4: box('isom'),
  webm: bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], 'webm', '\0'.repeat(64)),
  mov: box('qt  '),
}
