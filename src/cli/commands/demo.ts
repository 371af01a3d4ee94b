/** `marketplace demo`: plays whole lives of tasks and prints each step. */
import { playDemo } from '../../sim/demo/demo.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { createUi, money, plain } from '../output/ui.ts'

export async function demo(flags: { json?: boolean }): Promise<number> {
  const ui = createUi()
  const { colour } = ui
  const started = performance.now()
  const outcome = await playDemo(step => {
    if (flags.json) return ui.json({ type: 'step', ...step })
    const { wallet } = step
    const purse = wallet
      ? `  ${colour.yellow(`wallet ${money(wallet.balance)}, held ${money(wallet.heldBalance)}`)}`
      : ''
    ui.line(`${colour.green('✔')} ${plain(step.text)}${purse}`)
  })
  const ms = Math.round(performance.now() - started)
  if (flags.json) ui.json({ type: 'end', ...outcome, ms })
  else if (outcome.ok) {
    ui.line(colour.bold(`Everything adds up, in ${(ms / 1000).toFixed(1)} s.`))
    ui.line(`The same with an agent of your own: ${nextSteps.forward()}`)
  }
  if (!outcome.ok && !flags.json) process.stderr.write(`${colour.red('✖')} ${plain(outcome.reason)}\n`)
  return outcome.ok ? 0 : 1
}
