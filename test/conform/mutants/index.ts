/** All mutants, by area. */

import { who } from './buyers.ts'
import { cb } from './callbacks.ts'
import { conn } from './connection-test.ts'
import { dup } from './duplicates.ts'
import { order } from './event-order.ts'
import { hire } from './hiring.ts'
import { http } from './http.ts'
import type { Mutant } from './mutant.ts'
import { bytes } from './odd-bytes.ts'
import { rel } from './reliability.ts'
import { safe } from './secrets.ts'
import { sig } from './signatures.ts'
import { life } from './tasks.ts'

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
