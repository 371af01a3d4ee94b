/** Plays the trials that its parent sends, side by side, and ends one that it wants no more. */
import { reported, type Trial } from './trial.ts'

type Asked = { readonly id: number } & ({ readonly trial: Trial } | { readonly ends: true })

const underWay = new Map<number, AbortController>()

// Each agent is ended with the process, if it comes to that.
process.setMaxListeners(0)
process.on('message', (asked: Asked) => {
  if ('ends' in asked) underWay.get(asked.id)?.abort()
  else void play(asked.id, asked.trial)
})
// Ending by a signal would leave the agents behind.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit())
process.once('disconnect', () => process.exit())

async function play(id: number, trial: Trial): Promise<void> {
  const ending = new AbortController()
  underWay.set(id, ending)
  const told = await reported(trial, ending.signal).then(
    report => ({ id, report }),
    (error: Error) => ({ id, error: error.stack }),
  )
  underWay.delete(id)
  process.send!(told)
}
