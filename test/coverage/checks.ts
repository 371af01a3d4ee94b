/** Whether an agent works: connection test, heartbeat, freshness. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the source
import type { Row } from './row.ts'

const test = 'market/checks/connection-test: the test webhook says what it is'
const check = (n: number, what: string, from: string, to: string): Row => [
  `Check ${n}: ${what}`,
  `market/checks/connection-test: ${n}: `,
  'market/checks/connection-test.ts',
  from,
  to,
]
const run = 'market/checks/heartbeat: a run tests 20 agents at most'
const freshness = 'market/checks/freshness: freshness: green below 20 hours'

export const checks: readonly Row[] = [
  [
    'Test webhook: data.test is true',
    test,
    'market/checks/connection-test.ts',
    '    test: true,\n',
    '    test: false as never,\n',
  ],
  [
    'Test webhook: taskId starts with test_',
    test,
    'market/checks/connection-test.ts',
    '`test_${world',
    '`task_${world',
  ],
  [
    'Test webhook: the title carries [TEST]',
    test,
    'market/checks/connection-test.ts',
    "title: '[TEST] Connection test'",
    "title: 'Connection test'",
  ],
  [
    'Test webhook: agreedPrice is 0',
    test,
    'market/checks/connection-test.ts',
    'agreedPrice: 0',
    'agreedPrice: 200 as never',
  ],
  [
    'Test webhook: its callback is safe to call',
    'api/authorization: POST /api/agent/test/:id/callback',
    'market/checks/test-callback.ts',
    'return { test: true }',
    "throw refuse('not_found', 'test')",
  ],
  check(
    1,
    'a webhook URL is saved',
    "url ? passed('A webhook URL is saved') : failed",
    "url !== null ? passed('A webhook URL is saved') : failed",
  ),
  check(2, 'the URL starts with https://', '/^https:\\/\\//i.test(url)', '/^http/i.test(url)'),
  check(
    3,
    'a webhook secret exists',
    "agent.secret ? passed('A webhook secret exists') : failed",
    "true ? passed('A webhook secret exists') : failed",
  ),
  check(4, 'the endpoint answers 200', '...failed(`The endpoint ${', '...passed(`The endpoint ${'),
  check(5, 'a validly signed callback comes', "if (verdict === 'valid')", 'if (verdict !== null)'),
  [
    'No callback in 15 seconds is a warning',
    'market/checks/connection-test-words: without a callback the test waits 15 seconds',
    'market/checks/connection-test.ts',
    "return { status: 'warning', message: `No callback",
    "return { status: 'failed', message: `No callback",
  ],
  [
    'A callback with an invalid signature is a failure',
    'market/checks/connection-test: 5: ',
    'market/checks/connection-test.ts',
    'if (verdict !== null) return failed(',
    'if (verdict !== null) return passed(',
  ],
  [
    'Heartbeat: a run every 4 hours',
    'market/checks/heartbeat: the heartbeat runs at every fourth full hour',
    'api/limits.ts',
    'heartbeatHours = 4',
    'heartbeatHours = 5',
  ],
  ['Heartbeat: up to 20 agents a run', run, 'api/limits.ts', 'batch: 20', 'batch: 21'],
  [
    'Heartbeat: the least recently tested first',
    run,
    'store/tables/agents/agents.ts',
    'ORDER BY COALESCE(tested_at, 0)',
    'ORDER BY -COALESCE(tested_at, 0)',
  ],
  ['Heartbeat: 5 at a time', run, 'api/limits.ts', 'atOnce: 5', 'atOnce: 6'],
  [
    'Heartbeat: a failure hides the agent',
    'market/checks/heartbeat: a failed heartbeat hides the agent',
    'market/checks/connection-test.ts',
    'options.heartbeat ? { failedAt: now } : {}',
    '{}',
  ],
  [
    'Heartbeat: the builder is told by webhook_health_failed',
    'market/checks/heartbeat: a failed heartbeat hides the agent and tells its builder',
    'market/checks/heartbeat.ts',
    'if (report.passed || !current) return',
    'return',
  ],
  ['Freshness: green below 20 hours', freshness, 'api/limits.ts', 'amberMs: 20 * hour', 'amberMs: 20 * hour + 1'],
  [
    'Freshness: amber from 20 to 24 hours',
    freshness,
    'market/agents/visibility.ts',
    "'green' : 'amber'",
    "'green' : 'red'",
  ],
  [
    'Freshness: red above 24 hours',
    freshness,
    'market/agents/visibility.ts',
    "durations.freshMs) return 'red'",
    "durations.freshMs) return 'amber'",
  ],
]
