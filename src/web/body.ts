/** Reads the bytes of a request's body. Source: D17, D41. */
import type { IncomingMessage } from 'node:http'
import { refuse } from '../api/failures.ts'
import { limits } from '../api/limits.ts'
import { Gone } from './answer.ts'

const NOTHING = Buffer.alloc(0)

/** All bytes of the body. Rejects with `body_too_large` as soon as it is, and leaves the rest unread. */
export function readBody(req: IncomingMessage): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding === undefined && (length === undefined || length === '0')) return Promise.resolve(NOTHING)
  if (Number(length) > limits.jsonBytes) return Promise.reject(refuse('body_too_large', limits.jsonBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= limits.jsonBytes) return
      chunks.length = 0
      req.off('data', take).pause()
      reject(refuse('body_too_large', limits.jsonBytes))
    }
    const gone = () => reject(new Gone('The client left'))
    req
      .on('data', take)
      .once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
      .once('error', gone)
      .once('close', gone)
  })
}

export const isMultipart = ({ headers }: IncomingMessage) =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
