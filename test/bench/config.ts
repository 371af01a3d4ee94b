/** The settings of a market that is opened without a server: what its dispatcher reads. */
import { retryScheduleMs } from '../../src/api/limits.ts'
import type { Config } from '../../src/settings/config.ts'

export const configOf = (secretKey: Buffer) =>
  ({ baseUrl: 'http://127.0.0.1:1', secretKey, retryScheduleMs }) as unknown as Config
