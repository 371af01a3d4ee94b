/** What goes on by the clock while a marketplace is open: webhooks, what falls due, mails, files, heartbeats. */

import { sendMails } from '../market/accounts/mail-sender.ts'
import { Activity } from '../market/activity.ts'
import { startHeartbeat } from '../market/checks/heartbeat.ts'
import type { Market } from '../market/market.ts'
import { singleFlight } from '../market/single-flight.ts'
import { removeOrphans } from '../market/tasks/files.ts'
import { ClockScale } from '../market/upkeep/clock-scale.ts'
import { runDue } from '../market/upkeep/due.ts'
import { startDispatcher } from '../market/webhooks/dispatcher.ts'
import { isTold } from '../store/db.ts'

const TICK_MS = 1000

export function startBackground(market: Market) {
  const dispatcher = startDispatcher(market)
  const due = ticking(market, runDue, 'What is due could not be done')
  const mails = ticking(market, sendMails, 'Mails could not be sent')
  const sweep = ticking(market, removeOrphans, 'Files that nothing holds could not be removed')
  const heartbeat = startHeartbeat(market)
  const activity = market.memory.of(Activity)
  const scale = market.memory.of(ClockScale)
  const work = {
    async run() {
      await due.run()
      dispatcher.wake()
      await heartbeat.run()
      await mails.run()
      await sweep.run()
    },
    // The end of one may begin another: a webhook leads to a callback, and that to the next webhook.
    async settled() {
      do {
        await Promise.all([due.settled(), heartbeat.settled(), mails.settled(), dispatcher.settled()])
        await activity.ended()
      } while (!(dispatcher.isIdle && activity.isEmpty))
    },
  }
  market.background.attach(work)
  return {
    ...work,
    /** First of all, as its tests wait for callbacks that the server takes. A clock that runs fast begins more of them. */
    async stopTests() {
      scale.stop()
      await heartbeat.stop()
    },
    /** Once the server takes no more requests. */
    async stop() {
      await due.stop()
      await mails.stop()
      await sweep.stop()
      await dispatcher.close()
      await scale.ended()
    },
  }
}

/** Runs `work` every second. */
function ticking(market: Market, work: (market: Market) => Promise<void>, fault: string) {
  const { run, stop, settled } = singleFlight(() => work(market))
  let stopped = false
  const fail = (error: Error) => isTold(error) || market.log({ type: 'error', message: `${fault}: ${error.message}` })
  const tick = () => {
    if (stopped) return
    run()
      .catch(fail)
      .then(() => {
        timer = market.world.after(TICK_MS, tick)
      })
  }
  let timer = market.world.after(TICK_MS, tick)
  return {
    run,
    settled,
    async stop() {
      stopped = true
      timer.cancel()
      await stop()
    },
  }
}
