/** Bugs of endpoints that do not take what HTTP and the marketplace send. */
import type { Mutant } from './mutant.ts'

export const http: readonly Mutant[] = [
  { bug: 'redirects-messages', kills: 'http.ack' },
  { bug: 'answers-204', kills: 'http.ack-200' },
  { bug: 'answers-late', kills: 'http.ack-prompt', also: ['http.ack-not-after-work'] },
  { bug: 'answers-after-work', kills: 'http.ack-not-after-work' },
  { bug: 'one-at-a-time', kills: 'http.two-at-once', also: ['http'] },
  { bug: 'loses-a-burst', kills: 'http.burst' },
  { bug: 'needs-old-connection', kills: 'http.fresh-connection' },
  { bug: 'five-per-connection', kills: 'http.one-connection' },
  { bug: 'needs-length', kills: 'http.chunked' },
  { bug: 'needs-delivery-id', kills: 'http.only-law-headers' },
  { bug: 'few-headers', kills: 'http.extra-headers' },
  { bug: 'knows-all-fields', kills: 'http.extra-fields' },
  { bug: 'knows-all-events', kills: 'http.unknown-event' },
  { bug: 'ends-of-unknown-events', kills: 'http.unknown-event' },
  { bug: 'parses-get', kills: 'http.get-harmless' },
]
