/** How much of a form is parsed. */
import { Busboy } from '@fastify/busboy'

/** What `send` answers, and how many bytes the parser of forms was given meanwhile. */
export async function withParsed(send: () => Promise<string>): Promise<{ text: string; parsed: number }> {
  const write = Busboy.prototype._write
  let parsed = 0
  Busboy.prototype._write = function (chunk: Buffer, ...rest: [BufferEncoding, () => void]) {
    parsed += chunk.length
    return write.call(this, chunk, ...rest)
  }
  try {
    return { text: await send(), parsed }
  } finally {
    Busboy.prototype._write = write
  }
}
