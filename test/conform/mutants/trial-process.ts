/** Plays the trials that its parent sends, one after the other. */
import { judged, type Trial } from './trial.ts'

process.on('message', (trial: Trial) => {
  judged(trial).then(
    verdicts => process.send!({ verdicts }),
    (error: Error) => process.send!({ error: error.stack }),
  )
})
// Ending by a signal would leave the agent behind.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit())
process.once('disconnect', () => process.exit())
