/** All mutants, by area. */
import { bytes } from './bytes.ts'
import { cb } from './cb.ts'
import { conn } from './conn.ts'
import { dup } from './dup.ts'
import { hire } from './hire.ts'
import { http } from './http.ts'
import { life } from './life.ts'
import type { Mutant } from './mutant.ts'
import { order } from './order.ts'
import { rel } from './rel.ts'
import { safe } from './safe.ts'
import { sig } from './sig.ts'
import { who } from './who.ts'

export const mutants: readonly Mutant[] = [
  ...conn,
  ...sig,
  ...bytes,
  ...http,
  ...who,
  ...cb,
  ...dup,
  ...order,
  ...life,
  ...rel,
  ...safe,
  ...hire,
]
