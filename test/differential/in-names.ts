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

/** Without what each side has of its own: its requests, its log, how long they took, the digests of its secrets, and since when which engine runs. */
export const alike = (body: string) =>
  body
    .replace(/"ms":\d+/g, '"ms":0')
    .replace(/"log_\d+"/g, '"an entry"')
    .replace(/"(requestId|fingerprint|engine|startedAt)":"[^"]+"/g, '"$1":"of this side"')

export function answerIn(names: Names, { status, headers, body }: WireAnswer): Answer {
  // Each process counts its own exchanges.
  const told = alike(names.named(body)).replace(/"exchange_\d+"/g, '"an exchange"')
  return { status, headers: JSON.parse(names.named(JSON.stringify(headers))), body: told, data: dataOf(told) }
}

function dataOf(body: string): unknown {
  try {
    return JSON.parse(body).data
  } catch {
    return undefined
  }
}
