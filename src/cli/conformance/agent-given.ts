/** The agent that a command line names: that there is one, and what is said when it is not there. */
import { causes } from '../../api/diagnosis/table.ts'
import { AgentAway } from '../../conform/agent/agent-under-test.ts'
import { exitCodes, Fault } from '../exit-codes.ts'

export const WHICH_AGENT =
  "Which agent? --start 'node agent.js' starts one, --url http://localhost:3000/webhook names one that is up."

/** Returns the error; for an agent that is away one with its last lines and a hint. */
export function withAgentAway(error: unknown, isStarted: boolean): unknown {
  if (!(error instanceof AgentAway)) return error
  return new Fault([error.message, ...error.lastLines].join('\n  '), {
    code: exitCodes.network,
    hint: isStarted ? 'It is started with PORT in its environment, and listens there.' : causes.nobody_listens.fix,
  })
}
