/** Bugs of agents that a task breaks whose bytes are odd and right. */
import type { Mutant } from './mutant.ts'

export const bytes: readonly Mutant[] = [
  { bug: 'adds-up-strings', kills: 'bytes.cut-letter' },
  { bug: 'expects-key-order', kills: 'bytes.key-order' },
  { bug: 'finds-event-by-pattern', kills: 'bytes.spaces' },
  { bug: 'finds-title-by-pattern', kills: 'bytes.escapes' },
  { bug: 'finds-price-by-pattern', kills: 'bytes.numbers' },
  { bug: 'content-type-is-compared', kills: 'bytes.charset' },
  { bug: 'title-of-letters', kills: 'bytes.astral' },
  { bug: 'reads-latin1', kills: 'bytes.astral' },
  { bug: 'splits-lines', kills: 'bytes.line-separators' },
  { bug: 'refuses-control', kills: 'bytes.control' },
  { bug: 'strips-direction-marks', kills: 'bytes.direction' },
  { bug: 'runs-templates', kills: 'bytes.markup' },
  { bug: 'limit-of-16-KB', kills: 'bytes.largest' },
  { bug: 'limit-of-100-KB', kills: 'bytes.largest-escaped' },
  { bug: 'needs-requirements', kills: 'bytes.no-requirements' },
]
