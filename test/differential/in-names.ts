/** Between names and the wire: what is sent is made of names, and what comes back is told in them. */
import { signatureHeaders } from '../../src/api/signature.ts'
import { totpCode } from '../../src/market/accounts/totp.ts'
import type { WireAnswer, WireHeader } from '../support/wire.ts'
import type { Names } from './names.ts'
import type { Answer, Request } from './pair.ts'

export type WireRequest = [method: string, target: string, headers: WireHeader[], body: string | Buffer | undefined]

export function wireRequest(
  { method, target, headers, body, signed }: Request,
  names: Names,
  now: number,
): WireRequest {
  const text = typeof body === 'string' ? withCodes(names.made(body), now) : body
  const signature = signed
    ? Object.entries(signatureHeaders(names.made(signed.secret), now - signed.ageMs, text ?? ''))
    : []
  const given = headers.map(([name, value]) => [name, names.made(value)] as const)
  return [method, names.made(target), [...given, ...signature], text]
}

/** What an authenticator with this secret shows now, in the place of `code(secret)`. */
const withCodes = (body: string, now: number) =>
  body.replace(/code\(([A-Z2-7]{32})\)/g, (_, secret: string) => totpCode(secret, now))

export function answerIn(names: Names, { status, headers, body }: WireAnswer): Answer {
  const told = withoutOwn(names.named(body))
  return { status, headers: JSON.parse(names.named(JSON.stringify(headers))), body: told, data: dataOf(told) }
}

/** What each side has of its own: it counts its exchanges and its log, has its secrets, takes its time. */
export const withoutOwn = (body: string) =>
  body
    .replace(/"(exchange|log)_\d+"/g, '"one of its own"')
    .replace(/"requestId":"[^"]+"/g, '"requestId":"a request"')
    .replace(/"fingerprint":"[^"]+"/g, '"fingerprint":"of a secret"')
    // In a mail.
    .replace(/(?<=good for one hour, and once:(?:\\n){2})[\w-]+/g, 'a token')
    .replace(/(?<=[?]reset=)[\w-]+/g, 'a token')
    // How long a request took, and since when which engine runs.
    .replace(/"ms":\d+/g, '"ms":0')
    .replace(/"(engine|startedAt)":"[^"]+"/g, '"$1":"this side"')

function dataOf(body: string): unknown {
  try {
    return JSON.parse(body).data
  } catch {
    return undefined
  }
}
