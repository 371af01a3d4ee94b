/** Plays the trials that its parent sends, side by side. */
import { judged, type Trial } from './trial.ts'

// Each agent is ended with the process, if it comes to that.
process.setMaxListeners(0)
process.on('message', ({ id, trial }: { id: number; trial: Trial }) => {
  judged(trial).then(
    verdicts => process.send!({ id, verdicts }),
    (error: Error) => process.send!({ id, error: error.stack }),
  )
})
// Ending by a signal would leave the agents behind.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit())
process.once('disconnect', () => process.exit())
