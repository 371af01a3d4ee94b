/** What a check is: a record with the sentence that it holds agents to, and a pure function of what happened. */
import type { History } from '../history/history.ts'

/** `must` decides about the run, `should` warns, `may` is only told. */
export type Level = 'must' | 'should' | 'may'

export interface Check {
  /** `area.name`, for ever. */
  readonly id: string
  /** What a right agent does. */
  readonly title: string
  readonly level: Level
  /** The sentence that says so: in the interface (`I-…`) or in a decision (`A-…`), word for word. */
  readonly law: { readonly source: string; readonly quote: string }
  /** What goes wrong for whom if an agent does otherwise. */
  readonly why: string
  /** What its author changes. */
  readonly fix: string
  /** Where what it judges happens. */
  readonly scenario: string
  /** Checks without which this one says nothing. */
  readonly after?: readonly string[]
  judge(history: History): Finding
}

/** What came of one check. `evidence`: numbers of what happened. */
export type Finding =
  | { readonly holds: true; readonly note?: string }
  | { readonly holds: false; readonly text: string; readonly evidence: readonly number[] }
  | { readonly holds: null; readonly untested: string; readonly byDeclaration?: boolean; readonly behind?: string }
  | { readonly holds: null; readonly inconclusive: string }

export const holds: Finding = { holds: true }

/** It holds, and the report says more about it. */
export const noted = (note: string): Finding => ({ holds: true, note })

/** It does not hold: what was seen, as the end of “the agent …”, and where. */
export const broken = (text: string, ...events: readonly { readonly seq: number }[]): Finding => ({
  holds: false,
  text,
  evidence: events.map(({ seq }) => seq),
})

/** There was nothing to judge, for a reason that is the agent's or its author's. */
export const untested = (why: string): Finding => ({ holds: null, untested: why })

/** There was nothing to judge because of what has a line of its own: a check that is broken, or the end of the agent. */
export const behind = (cause: string, why: string): Finding => ({ holds: null, untested: why, behind: cause })

/** There was nothing to judge, as the author has declared, or has declared nothing that could be tried. */
export const leftOut = (why: string): Finding => ({ holds: null, untested: why, byDeclaration: true })

/** There was nothing to judge, for a reason of ours or of the machine. */
export const inconclusive = (why: string): Finding => ({ holds: null, inconclusive: why })

/** The first that does not hold; else the first that says nothing; else that it holds. */
export function all(findings: readonly Finding[]): Finding {
  return (
    findings.find(({ holds }) => holds === false) ??
    findings.find(({ holds }) => holds === null) ??
    findings[0] ??
    holds
  )
}
