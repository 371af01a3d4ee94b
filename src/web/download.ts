/** Sends a file as an attachment that no browser will run. Source: D19, D22. */
import { pipeline } from 'node:stream/promises'
import type { KeptFile } from '../api/file-kinds.ts'
import type { Call } from './answer.ts'

export async function sendFile(call: Call, file: KeptFile): Promise<void> {
  const stream = await call.house.market.files.read(file.id)
  call.stream(200, file.mimeType, file.size, {
    'content-disposition': disposition(file.name),
    'content-security-policy': "sandbox; default-src 'none'",
  })
  // Whoever leaves early ends the stream too; there is nobody to tell.
  await pipeline(stream, call.res).catch(() => {})
}

/** RFC 6266: a name for old clients, and the true one. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
