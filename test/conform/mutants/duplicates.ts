/** Bugs of agents that take copies for something new, or something new for a copy. */
import type { Mutant } from './mutant.ts'

export const dup: readonly Mutant[] = [
  { bug: 'no-dedupe', kills: 'dup.retry' },
  { bug: 'refuses-copies', kills: 'dup.retry' },
  { bug: 'knows-retries-alone', kills: 'dup.same-bytes', also: ['dup.at-once', 'dup.redelivered', 'dup.replayed'] },
  { bug: 'remembers-all-signatures', kills: 'dup.replayed', also: ['dup.redelivered'] },
  { bug: 'notes-late', kills: 'dup.at-once' },
  { bug: 'forgets-soon', kills: 'dup.late' },
  { bug: 'known-by-id', kills: 'dup.redelivered', also: ['dup.replayed'] },
  { bug: 'forgets-at-restart', kills: 'dup.after-restart' },
  { bug: 'replies-to-copies', kills: 'dup.message' },
  { bug: 'revises-for-copies', kills: 'dup.revision', beside: ['dup.old-revision'] },
  { bug: 'asks-for-the-state', kills: 'dup.submitted-in-revision' },
  { bug: 'remembers-the-last', kills: 'dup.old-revision' },
  { bug: 'thanks-for-copies', kills: 'dup.ends' },
  { bug: 'notes-refused', kills: 'dup.forged-does-not-burn' },
  { bug: 'known-by-words', kills: 'dup.not-by-content', named: ['who.two-buyers-same-words'] },
  { bug: 'known-by-task', kills: 'dup.not-by-task', named: ['life.revision'] },
  { bug: 'known-by-text', kills: 'dup.not-by-text' },
  { bug: 'accepts-copies', kills: 'dup.quiet' },
]
