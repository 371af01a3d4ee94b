/** Keeps whether webhooks may go to a URL, as most URLs were used before. A URL has up to 2 KB, so the bound is in bytes. */
import { boundedCache, bytesOfText } from '../../shared/bounded-cache.ts'
import type { ConnectError } from './connect.ts'

/** Room for some 10,000 URLs of 60 characters, or 600 of the longest. */
const KEPT_BYTES = 8 * 1024 * 1024
/** What a URL takes besides its text. Measured: 298 bytes with a text of 60 characters, 2,237 with one of 2,000. */
const URL_BYTES = 250

type Judgement = URL | ConnectError

export function keptJudgements(judge: (text: string) => Judgement, maxBytes = KEPT_BYTES) {
  const known = boundedCache<Judgement>({
    maxBytes,
    bytesOf: found => URL_BYTES + bytesOfText(found instanceof URL ? found.href : found.message),
  })
  return (text: string): Judgement => {
    const found = known.get(text)
    if (found) return found
    const judged = judge(text)
    known.set(text, judged)
    return judged
  }
}
