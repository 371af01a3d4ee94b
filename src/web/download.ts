/** Sends a file as an attachment that no browser executes. Source: A-19, A-22. */
import { pipeline } from 'node:stream/promises'
import type { KeptFile } from '../api/file-kinds.ts'
import { DOWNLOAD_BYTES } from './bodies/unread-responses.ts'
import type { Call } from './response.ts'
import { MS_PER_BYTE } from './turns.ts'

export async function sendFile(call: Call, file: KeptFile): Promise<void> {
  const headers = {
    'content-disposition': disposition(file.name),
    'content-security-policy': "sandbox; default-src 'none'",
  }
  if (call.req.method === 'HEAD') {
    call.stream(200, file.mimeType, file.size, headers)
    call.res.end()
    return
  }
  call.reserveBytes(DOWNLOAD_BYTES)
  call.server.turns.charge(call.flow, file.size * MS_PER_BYTE)
  const stream = await call.server.market.files.read(file.id)
  try {
    call.stream(200, file.mimeType, file.size, headers)
    await pipeline(stream, call.res)
  } catch (error) {
    stream.destroy()
    // A client that disconnects also ends the stream; then nobody waits for an error.
    if (!hasLeft(error)) call.fail(error)
  }
}

const hasLeft = (error: unknown) =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

/** RFC 6266: a plain name for old clients, and the exact one. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
