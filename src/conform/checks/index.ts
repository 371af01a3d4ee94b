/** The census: every check, by area. */
import type { Check } from '../judging/check.ts'
import { who } from './buyers.ts'
import { cb } from './callbacks.ts'
import { conn } from './connection-test.ts'
import { dup } from './duplicates.ts'
import { order } from './event-order.ts'
import { hire } from './hiring.ts'
import { http } from './http.ts'
import { bytes } from './odd-bytes.ts'
import { rel } from './reliability.ts'
import { safe } from './secrets.ts'
import { sig } from './signatures.ts'
import { lifeEnds } from './task-ends.ts'
import { lifeSamples } from './task-samples.ts'
import { life } from './tasks.ts'

export const checks: readonly Check[] = [
  ...conn,
  ...sig,
  ...bytes,
  ...http,
  ...who,
  ...cb,
  ...dup,
  ...order,
  ...life,
  ...lifeSamples,
  ...lifeEnds,
  ...rel,
  ...safe,
  ...hire,
]
