/** What the first guide takes: two commands on terminals, from a folder with one file to an agent that is paid. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { typeOnTerminal } from '../cli/program.ts'
import { blocksOf, installed, shows } from '../docs/guide.ts'
import { median, type Row } from './table.ts'

const ROUNDS = 5

export async function firstHire(): Promise<Row[]> {
  const seconds: number[] = []
  for (let round = 0; round < ROUNDS; round++) seconds.push(await once())
  const ratio = median(seconds)
  const name = 'two commands, from an empty folder to a paid agent, in s'
  return [{ name, ours: `${ratio.toFixed(2)} s`, peer: '', ratio, wanted: '<= 5' }]
}

const blocks = blocksOf('docs/guides/first-agent.md')
const codeOf = (wanted: string) => blocks.find(({ name }) => name === wanted)!.code.trimEnd()

async function once(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-hire-'))
  try {
    const env = installed(folder)
    writeFileSync(join(folder, 'agent.mjs'), codeOf('agent.mjs'))
    const started = performance.now()
    const dev = typeOnTerminal(`exec ${codeOf('dev')}`, folder, env)
    await shows(dev, 'my-agent can be hired:')
    const bought = typeOnTerminal(codeOf('buy'), folder, env)
    const code = await bought.ended
    const passed = performance.now() - started
    dev.interrupt()
    await dev.ended
    if (code !== 0) throw new Error(`The agent was not paid: ${bought.shown()}`)
    return passed / 1_000
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
