/** `marketplace openapi` and `version`: what this version is. */
import { endpoints } from '../../api/endpoints/index.ts'
import { openApi } from '../../api/openapi/openapi.ts'
import { UsageError, version } from '../../settings/config.ts'
import { type AnswerFlags, withOutput } from '../output/output.ts'
import { print } from '../output/ui.ts'

export interface OpenapiFlags extends AnswerFlags {
  mode?: string
  baseUrl?: string
}

export async function openapi({ mode = 'serve', baseUrl = 'http://127.0.0.1:4000', json }: OpenapiFlags) {
  if (mode !== 'serve' && mode !== 'dev') throw new UsageError(`--mode takes serve or dev, not ${mode}.`)
  const document = openApi({ endpoints, version, baseUrl, mode })
  print(`${json ? JSON.stringify(document) : JSON.stringify(document, null, 2)}\n`, { json: true, whole: true })
  return 0
}

export const printVersion = (flags: AnswerFlags) =>
  withOutput(flags, async ({ out, answer }) => answer({ version, node: process.version }, () => out.line(version)))
