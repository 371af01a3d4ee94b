/** Commands for what a simulator alone has: a deployment answers them with 404. */
import { MarketplaceError } from '../../client/client.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'
import { type Connection, type ConnectionFlags, connected } from './connection.ts'
import { nextSteps } from './next-steps.ts'

/** `why`: what a deployment is told, behind its URL. */
export const onSimulator = (
  flags: ConnectionFlags,
  why: string,
  work: (connection: Connection) => Promise<number>,
): Promise<number> =>
  connected(flags, 'admin', async connection => {
    try {
      return await work(connection)
    } catch (error) {
      if (!(error instanceof MarketplaceError && error.status === 404)) throw error
      throw new Fault(`${plain(connection.found.url)} ${why}.`, {
        code: exitCodes.failed,
        status: 404,
        hint: `Start a simulator: ${nextSteps.startDev()}`,
      })
    }
  })
