/** `marketplace demo`: plays whole lives of tasks and prints each step. */
import { type DemoStep, playDemo } from '../../sim/demo/demo.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { exitCodes } from '../exit-codes.ts'
import { type AnswerFlags, withOutput } from '../output/output.ts'
import { money, plain, type Ui } from '../output/ui.ts'

export const demo = (flags: AnswerFlags) =>
  withOutput(flags, async ({ out, notes, json, onInterrupt }) => {
    const started = performance.now()
    const ended = new AbortController()
    onInterrupt(() => ended.abort())
    const tell = (step: DemoStep) => (json ? out.json({ type: 'step', ...step }) : out.line(lineOf(step, out)))
    const outcome = await playDemo(tell, ended.signal)
    const ms = Math.round(performance.now() - started)
    if (json) out.json({ type: 'end', ...outcome, ms })
    else if (outcome.ok) {
      out.line(out.colour.bold(`Everything adds up, in ${(ms / 1000).toFixed(1)} s.`))
      out.line(`The same with an agent of your own: ${nextSteps.forward()}`)
    } else notes.line(ended.signal.aborted ? '\nInterrupted.' : `${notes.colour.red('✖')} ${plain(outcome.reason)}`)
    if (ended.signal.aborted) return exitCodes.interrupted
    return outcome.ok ? exitCodes.ok : exitCodes.failed
  })

function lineOf({ text, wallet }: DemoStep, { colour }: Ui): string {
  const purse = wallet ? `  ${colour.yellow(`wallet ${money(wallet.balance)}, held ${money(wallet.heldBalance)}`)}` : ''
  return `${colour.green('✔')} ${plain(text)}${purse}`
}
