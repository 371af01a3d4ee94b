/** The census: every check, by area. */
import type { Check } from '../check.ts'
import { bytes } from './bytes.ts'
import { cb } from './cb.ts'
import { conn } from './conn.ts'
import { dup } from './dup.ts'
import { hire } from './hire.ts'
import { http } from './http.ts'
import { life } from './life.ts'
import { lifeEnds } from './life-ends.ts'
import { lifeSamples } from './life-samples.ts'
import { order } from './order.ts'
import { rel } from './rel.ts'
import { safe } from './safe.ts'
import { sig } from './sig.ts'
import { who } from './who.ts'

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
