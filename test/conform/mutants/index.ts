/** All mutants, by area. */
import { bytes } from './bytes.ts'
import { cb } from './cb.ts'
import { conn } from './conn.ts'
import { dup } from './dup.ts'
import { life } from './life.ts'
import type { Mutant } from './mutant.ts'
import { sig } from './sig.ts'

export const mutants: readonly Mutant[] = [...conn, ...sig, ...bytes, ...cb, ...dup, ...life]
