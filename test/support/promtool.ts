/** The real promtool of Prometheus, where a machine has it: no package brings it. Debian's `prometheus` does. */
import { spawnSync } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const promtool = (args: readonly string[], input?: string) => spawnSync('promtool', args, { input, encoding: 'utf8' })

/** Fails with its words if it finds anything to say. */
export function promtoolTakes(args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = promtool(args, input)
  assert.is(status, 0, `promtool ${args.join(' ')}: ${stdout}${stderr}`)
}

/** A test of those that ask promtool; where there is none, one that says so. */
export function withPromtool(name: string, work: () => Promise<void> | void): void {
  const words = `not tried: promtool is not here, so nobody asks it whether ${name}`
  if (promtool(['--version']).status === 0) test(name, work)
  else test(words, () => console.log(`\n${words}`))
}
