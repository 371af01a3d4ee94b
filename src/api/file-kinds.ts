/**
 * The kinds of files that a deliverable may have: extensions, media type, and how the bytes are validated. Source:
 * I-file-kinds, A-22.
 */

/**
 * `signature`: the bytes must be recognised as one of `as`. `compound`: the old Office container, by which the programs
 * can't be distinguished. `text`: valid UTF-8 without NUL. `svg`: such text with an svg element.
 */
type Judged = { by: 'signature'; as: readonly string[] } | { by: 'compound' | 'text' | 'svg' }

export interface FileKind {
  readonly kind: 'image' | 'document' | 'office' | 'opendocument' | 'archive' | 'audio' | 'video'
  readonly extensions: readonly string[]
  readonly mimeType: string
  readonly judged: Judged
}

const signed = (kind: FileKind['kind'], mimeType: string, extensions: string[], as = extensions): FileKind => ({
  kind,
  extensions,
  mimeType,
  judged: { by: 'signature', as },
})

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const OPEN = 'application/vnd.oasis.opendocument'

/** @internal The reference lists them, and tests upload each. */
export const fileKinds: readonly FileKind[] = [
  signed('image', 'image/png', ['png'], ['png', 'apng']),
  signed('image', 'image/jpeg', ['jpg', 'jpeg'], ['jpg']),
  signed('image', 'image/gif', ['gif']),
  signed('image', 'image/webp', ['webp']),
  signed('image', 'image/bmp', ['bmp']),
  signed('image', 'image/tiff', ['tif', 'tiff'], ['tif']),
  signed('image', 'image/avif', ['avif']),
  signed('image', 'image/heic', ['heic']),
  { kind: 'image', extensions: ['svg'], mimeType: 'image/svg+xml', judged: { by: 'svg' } },
  signed('document', 'application/pdf', ['pdf']),
  { kind: 'document', extensions: ['csv'], mimeType: 'text/csv', judged: { by: 'text' } },
  { kind: 'document', extensions: ['xml'], mimeType: 'application/xml', judged: { by: 'text' } },
  signed('document', 'application/rtf', ['rtf']),
  { kind: 'office', extensions: ['doc'], mimeType: 'application/msword', judged: { by: 'compound' } },
  { kind: 'office', extensions: ['xls'], mimeType: 'application/vnd.ms-excel', judged: { by: 'compound' } },
  { kind: 'office', extensions: ['ppt'], mimeType: 'application/vnd.ms-powerpoint', judged: { by: 'compound' } },
  signed('office', `${OFFICE}.wordprocessingml.document`, ['docx']),
  signed('office', `${OFFICE}.spreadsheetml.sheet`, ['xlsx']),
  signed('office', `${OFFICE}.presentationml.presentation`, ['pptx']),
  signed('opendocument', `${OPEN}.text`, ['odt']),
  signed('opendocument', `${OPEN}.spreadsheet`, ['ods']),
  signed('opendocument', `${OPEN}.presentation`, ['odp']),
  signed('opendocument', `${OPEN}.graphics`, ['odg']),
  signed('archive', 'application/zip', ['zip']),
  signed('archive', 'application/gzip', ['gz', 'gzip', 'tgz'], ['gz', 'tar.gz']),
  signed('archive', 'application/x-tar', ['tar']),
  signed('archive', 'application/x-7z-compressed', ['7z']),
  signed('archive', 'application/vnd.rar', ['rar']),
  signed('audio', 'audio/mpeg', ['mp3']),
  signed('audio', 'audio/wav', ['wav']),
  signed('audio', 'audio/ogg', ['ogg', 'oga'], ['ogg', 'oga', 'opus', 'spx']),
  signed('video', 'video/mp4', ['mp4', 'm4v'], ['mp4', 'm4v']),
  signed('video', 'video/webm', ['webm']),
  signed('video', 'video/quicktime', ['mov']),
]

/** Returns the extension of a name in lower case, '' if it has none. */
const extensionOf = (name: string) => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''

export const kindOfName = (name: string) => fileKinds.find(({ extensions }) => extensions.includes(extensionOf(name)))

/** A file of a deliverable, without its bytes. `size` in bytes. */
export interface KeptFile {
  readonly id: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
}
