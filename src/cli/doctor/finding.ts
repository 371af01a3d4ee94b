/** What the doctor of a machine has found out. */
import type { DiagnosisRecord } from '../../api/diagnosis/record.ts'
import { diagnosisLines } from '../connection/diagnosis.ts'
import { plain } from '../output/ui.ts'

export interface SetupFinding {
  /** What was looked at; stays the same for programs. */
  readonly check: string
  readonly level: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** What helps: a command or a sentence. */
  readonly fix?: string
  /** Does what helps, where that changes nothing but the rights of files and what git leaves out. */
  readonly mend?: () => void
}

export const ok = (check: string, message: string): SetupFinding => ({ check, level: 'ok', message })
export const warning = (check: string, message: string, fix: string): SetupFinding => ({
  check,
  level: 'warning',
  message,
  fix,
})
export const failed = (check: string, message: string, fix: string): SetupFinding => ({
  check,
  level: 'failed',
  message,
  fix,
})

export const diagnosed = (
  check: string,
  level: 'warning' | 'failed',
  diagnosis: DiagnosisRecord,
  reach: string,
): SetupFinding => ({
  check,
  level,
  message: plain(diagnosis.text),
  fix: diagnosisLines({ ...diagnosis, text: '' }, reach).join('\n'),
})
