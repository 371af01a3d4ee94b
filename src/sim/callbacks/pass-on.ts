/** Recognises callbacks on their way to a marketplace, and passes them on. */
import http from 'node:http'
import { type HeaderLines, linesOf } from '../../world/header-lines.ts'
import type { FrontAnswer } from './faults.ts'

export interface CallbackNames {
  readonly taskId: string
  readonly action: string
  readonly signed: boolean
}

const BY_SIGNATURE = /^\/api\/agent\/(?:tasks|test)\/([^/?]+)\/callback(?:\?|$)/
const BY_KEY = /^\/api\/agent\/tasks\/([^/?]+)\/(accept|reject|deliver)(?:\?|$)/

export const isCallback = (path: string): boolean => BY_SIGNATURE.test(path) || BY_KEY.test(path)

/** By signature or by key; null: it is none. */
export function callbackIn(path: string, body: Buffer): CallbackNames | null {
  const [, signedTask] = BY_SIGNATURE.exec(path) ?? []
  if (signedTask !== undefined) return { taskId: signedTask, action: actionIn(body), signed: true }
  const [, taskId, action] = BY_KEY.exec(path) ?? []
  return taskId === undefined ? null : { taskId, action: action!, signed: false }
}

function actionIn(body: Buffer): string {
  try {
    const { action } = JSON.parse(body.toString())
    return typeof action === 'string' ? action : '?'
  } catch {
    return '?'
  }
}

/** What belongs to one connection alone. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host', 'content-length', 'expect'])

/** Sends it on with this body, and with more headers if any are given. */
export async function forward(
  url: string,
  { method, rawHeaders }: http.IncomingMessage,
  body: Buffer,
  more: HeaderLines = [],
): Promise<FrontAnswer> {
  const own = linesOf(rawHeaders).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
  const headers = [...own, ...more]
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method }, async response => {
      const chunks = await response.toArray().catch(reject)
      if (!chunks) return
      const kept = linesOf(response.rawHeaders).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
      resolve({ status: response.statusCode!, headers: Object.fromEntries(kept), body: Buffer.concat(chunks) })
    })
    for (const [name, value] of headers) request.appendHeader(name, value)
    request.once('error', reject).end(body)
  })
}
