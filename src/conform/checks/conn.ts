/** The connection test and the heartbeat. */
import { broken, type Check, holds, inconclusive } from '../check.ts'
import { isAck, toldBack } from './evidence.ts'

export const conn: readonly Check[] = [
  {
    id: 'conn.endpoint-200',
    title: 'answers 200 to the test webhook within 30 seconds',
    level: 'must',
    law: { source: 'I-test-checks', quote: 'the endpoint answers 200 to a' },
    why: 'The connection test takes no other status: the agent can neither be published nor stay visible.',
    fix: 'Answer exactly 200 to a genuine webhook, before you do any work.',
    scenario: 'first contact',
    judge(history) {
      const [test] = history.webhooks('conn.endpoint-200')
      if (!test) return inconclusive('no test was sent')
      if (test.answer?.status === 200) return holds
      return broken(
        isAck(test) ? `answered ${test.answer?.status}, not 200` : `failed the test: it ${toldBack(test)}`,
        test,
      )
    },
  },
]
