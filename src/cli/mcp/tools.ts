/**
 * The tools for coding agents. Each is one command or several of the command line, so that an answer is what a person would read. What
 * starts an agent is said once, when the server starts, and by no call. Source: A-259.
 */
import { existsSync } from 'node:fs'
import * as z from 'zod'
import { faultNames } from '../../api/faults.ts'
import { agentEvents } from '../../api/flow.ts'
import type { CommandRecord } from '../command-line/command.ts'
import { inUnits } from '../output/numbers.ts'
import { asks, type CommandWords, leadsThere, readCommand, wordsAt } from './command-words.ts'

/** Less than the server lets a command take, so that its report is there. */
const RUN_TIME = '9m'

/** What the server was started with. */
export interface Given {
  /** Which marketplace and whose: `--url`, `--key`, `--as` and what else commands take. */
  readonly reach: readonly string[]
  /** The agent for `conformance` and `simulate`: `--start` or `--url` with its secret. */
  readonly agent: readonly string[]
  /** `--secret-file` of the agent, if there is one. */
  readonly secret: readonly string[]
  /** The file that keeps the last run of `conformance`. */
  readonly history: string
  readonly records: readonly CommandRecord[]
}

/** What a call does: nothing but look, something that can be seen in the marketplace, or something that takes away. */
type Effect = 'reads' | 'changes' | 'destroys'

export interface Tool<Input = Record<string, unknown>> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly effect: Effect
  readonly input: z.ZodRawShape
  /** A client may say how long it waits for the answer. */
  readonly isLong?: true
  /** Calls wait for each other: two runs of the judge would disturb each other at one agent, and write one history. */
  readonly oneByOne?: true
  /** Command lines, without the program's name. */
  commands(input: Input, given: Given): readonly (readonly string[])[]
  /**
   * What may be wrong afterwards, if the commands do not say that themselves: an agent, a task, or with undefined whatever this builder
   * has. It is told below the answer.
   */
  about?(input: Input): string | undefined
  /** It is asked for something else than what is wrong. */
  readonly isAside?: true
  /** The commands that a person is advised to type where a client is advised to make this call: its input, if all of it has a place there. */
  readonly takes?: Readonly<Record<string, (typed: CommandWords) => Readonly<Record<string, unknown>> | undefined>>
}

const id = z.string().regex(/^\w[\w-]{0,99}$/)
const agent = z
  .string()
  .regex(/^\w[\w-]{0,99}$/)
  .describe('its slug or id')
const duration = z
  .string()
  .regex(/^[\dhmsd.]{1,20}$/)
  .describe('like 90s, 15m, 48h or 1h30m')

/** The types of the input follow from its shape. */
const tool = <Shape extends z.ZodRawShape>(one: Tool<z.infer<z.ZodObject<Shape>>> & { input: Shape }): Tool =>
  one as unknown as Tool

/** For a command with one argument, and no flag but those that lead to the marketplace. */
const oneWord =
  (field: string) =>
  ({ words: [word], flags }: CommandWords) =>
    [...flags.keys()].every(name => leadsThere(name)) ? { ...(word !== undefined && { [field]: word }) } : undefined

/** Undefined leaves a flag out. A value stands behind `=`, so that it is never taken for a flag. */
const flag = (name: string, value: string | number | undefined) => (value === undefined ? [] : [`--${name}=${value}`])

export const tools: readonly Tool[] = [
  tool({
    name: 'market_status',
    title: 'Where things stand',
    description:
      'What is wrong now, the agents of this builder, the latest tasks, webhooks that were given up, and the clock. Begin here.',
    effect: 'reads',
    input: {},
    about: () => undefined,
    takes: { 'agents list': () => ({}) },
    commands: (_, { reach }) => [
      ['agents', 'list', ...reach],
      ['tasks', 'list', '--limit=5', ...reach],
      ['deliveries', 'list', '--failed', '--limit=5', ...reach],
      ['clock', 'show', ...reach],
    ],
  }),
  tool({
    name: 'hire',
    title: 'Hire an agent',
    description:
      'Plays a buyer with play money to the end: submits a task, waits for the agent, then approves, cancels or disputes. Tells the story, and why it stopped.',
    effect: 'changes',
    input: {
      agent,
      outcome: z.enum(['approve', 'cancel', 'dispute']).optional(),
      revisions: z.int().min(0).max(5).optional().describe('how often the work is sent back'),
      title: z.string().min(5).max(200).optional(),
      description: z.string().min(20).max(10_000).optional(),
      price: z.int().min(200).optional().describe('in cents'),
      timeout: z.int().min(1).max(300).optional().describe('for each answer of the agent, in seconds'),
    },
    isLong: true,
    about: ({ agent }) => agent,
    takes: { 'simulate buyer': oneWord('agent') },
    commands: ({ agent, price, ...rest }, { reach }) => [
      [
        'simulate',
        'buyer',
        agent,
        ...flag('price', price && inUnits(price)),
        ...Object.entries(rest).flatMap(([name, value]) => flag(name, value)),
        ...reach,
      ],
    ],
  }),
  tool({
    name: 'task',
    title: 'One task',
    description:
      'Its state, the latest work, its messages, and its webhooks and callbacks, those that failed included.',
    effect: 'reads',
    input: { id },
    about: ({ id }) => id,
    takes: { 'tasks show': oneWord('id') },
    commands: ({ id }, { reach }) => [
      ['tasks', 'show', id, ...reach],
      ['tasks', 'messages', id, ...reach],
      ['deliveries', 'list', flag('task', id)[0]!, ...reach],
      ['exchanges', 'list', `--task=${id}`, ...reach],
    ],
  }),
  tool({
    name: 'exchange',
    title: 'One request, byte for byte',
    description: 'A webhook or callback with its headers, body and response. `task` lists their ids. Only in a dev.',
    effect: 'reads',
    input: { id },
    takes: { 'exchanges show': oneWord('id') },
    commands: ({ id }, { reach }) => [['exchanges', 'show', id, ...reach]],
  }),
  tool({
    name: 'why',
    title: 'What is wrong',
    description:
      'What is wrong now with an agent (slug or id), a task, a delivery or an exchange (id), or with all of this builder without `about`: the cause, how sure that is, what to do, and commands that help.',
    effect: 'reads',
    input: { about: id.optional() },
    takes: { why: oneWord('about'), 'deliveries show': oneWord('about') },
    commands: ({ about }, { reach }) => [
      ['why', ...(about === undefined ? [] : [about]), ...reach],
      ...(about?.startsWith('dlv_') ? [['deliveries', 'show', about, ...reach]] : []),
    ],
  }),
  tool({
    name: 'log',
    title: 'The log',
    description: 'What has happened lately in a dev, or what failed: of all, of an agent or of a task.',
    effect: 'reads',
    input: {
      since: duration.optional(),
      failed: z.boolean().optional(),
      agent: agent.optional(),
      task: id.optional(),
    },
    about: ({ agent, task }) => task ?? agent,
    commands: ({ since = '5m', failed, agent, task }, { reach }) => [
      [
        'logs',
        `--since=${since}`,
        ...(failed ? ['--failed'] : []),
        ...flag('agent', agent),
        ...flag('task', task),
        ...reach,
      ],
    ],
  }),
  tool({
    name: 'test_connection',
    title: 'The connection test',
    description:
      'Makes the five checks that an agent must pass to be listed and to stay so, and says what helps where one fails.',
    effect: 'changes',
    input: { agent },
    about: ({ agent }) => agent,
    takes: { 'test-connection': oneWord('agent') },
    commands: ({ agent }, { reach }) => [['test-connection', agent, ...reach]],
  }),
  tool({
    name: 'emit',
    title: 'Send one webhook',
    description:
      'Sends a webhook to the agent without a marketplace, genuine, forged or unusual, and judges what the agent does. `forge: all` and `dress: all` try every kind.',
    effect: 'changes',
    input: {
      event: z.enum(agentEvents).exclude(['task.delivered_to_buyer']),
      to: z.url().describe("the agent's webhook, as http://localhost:3000/webhook"),
      forge: z
        .string()
        .regex(/^\w[\w-]{0,39}$/)
        .optional(),
      dress: z
        .string()
        .regex(/^\w[\w-]{0,39}$/)
        .optional(),
      fault: z.enum(faultNames).optional().describe('what goes wrong on the way'),
      fields: z
        .record(z.string().regex(/^[\w.]{1,100}$/), z.json())
        .optional()
        .describe('by their paths, as data.agreedPrice'),
    },
    takes: {
      emit: ({ words: [event], flags }) =>
        [...flags.keys()].every(name => ['to', 'forge'].includes(name))
          ? { event, ...Object.fromEntries([...flags].map(([name, [value]]) => [name, value])) }
          : undefined,
    },
    commands: ({ event, to, forge, dress, fault, fields = {} }, { secret }) => [
      [
        ...['emit', event, `--to=${to}`, ...flag('forge', forge), ...flag('dress', dress), ...flag('fault', fault)],
        ...secret,
        ...Object.entries(fields).map(([path, value]) => `--field=${path}=${JSON.stringify(value)}`),
      ],
    ],
  }),
  tool({
    name: 'clock',
    title: 'The clock of dev',
    description: 'Shows it, moves it to the next thing that falls due, or forward by a time. It never goes back.',
    effect: 'changes',
    input: { do: z.enum(['show', 'next', 'advance']), by: duration.optional() },
    about: () => undefined,
    isAside: true,
    takes: {
      'clock show': () => ({ do: 'show' }),
      'clock next': () => ({ do: 'next' }),
      'clock advance': ({ words: [by] }) => ({ do: 'advance', by }),
    },
    commands: ({ do: what, by }, { reach }) => [['clock', what, ...(what === 'advance' ? [by ?? '1h'] : []), ...reach]],
  }),
  tool({
    name: 'conformance',
    title: 'Judge the agent',
    description:
      'Runs all checks against the agent that this server was started with, or some of them: what is broken, what was seen, the rule, and what to change. Mend, and run it again until it is green.',
    effect: 'changes',
    isLong: true,
    oneByOne: true,
    input: {
      only: z
        .array(z.string().regex(/^[a-z0-9][a-z0-9.-]{0,59}$/))
        .max(50)
        .optional()
        .describe('ids of checks or areas, as sig or dup.retry'),
      seed: z.int().min(0).optional(),
      strict: z.boolean().optional(),
    },
    takes: {
      conformance: ({ flags }) =>
        flags.has('agent') || flags.has('explain') || flags.has('list')
          ? undefined
          : {
              ...(flags.has('only') && { only: flags.get('only') }),
              ...(flags.has('seed') && { seed: Number(flags.get('seed')) }),
            },
    },
    commands: ({ only = [], seed, strict }, { agent, history }) => [
      [
        'conformance',
        ...agent,
        `--save-history=${history}`,
        ...only.map(one => `--only=${one}`),
        ...flag('seed', seed),
        ...(strict ? ['--strict'] : []),
        `--timeout=${RUN_TIME}`,
      ],
    ],
  }),
  tool({
    name: 'explain',
    title: 'What a check asks',
    description:
      'The rule of one check, why it is there and what to change, with the requests that broke it in the last run of `conformance`, byte for byte; without an id the list of all checks.',
    effect: 'reads',
    input: {
      check: z
        .string()
        .regex(/^[a-z0-9][a-z0-9.-]{0,59}$/)
        .optional(),
    },
    takes: {
      conformance: ({ flags }) =>
        flags.has('explain') ? { check: flags.get('explain')![0] } : flags.has('list') ? {} : undefined,
    },
    commands: ({ check }, { history }) => [
      check === undefined
        ? ['conformance', '--list']
        : ['conformance', `--explain=${check}`, ...(existsSync(history) ? [`--history=${history}`] : [])],
    ],
  }),
  tool({
    name: 'call',
    title: 'Any request of the API',
    description: 'As the command `call`: a method, a path, a body. `GET /openapi.json` describes all of them.',
    effect: 'destroys',
    input: {
      method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
      path: z.string().regex(/^\/[^\s]{0,500}$/),
      body: z.record(z.string(), z.json()).optional(),
      as: z.enum(['buyer', 'builder', 'admin']).optional(),
    },
    about: () => undefined,
    isAside: true,
    commands: ({ method, path, body, as }, { reach }) => [
      [
        'call',
        method,
        path,
        ...(body === undefined ? [] : [`--data=${JSON.stringify(body)}`]),
        // The last one counts.
        ...reach,
        ...flag('as', as),
      ],
    ],
  }),
  tool({
    name: 'command',
    title: 'Any other command',
    description:
      'One command line that asks the marketplace, as `agents publish my-agent`, `deliveries resend dlv_…`, `tasks cancel task_… --as buyer` or `tasks create --help`. It is asked nothing: what it does is done.',
    effect: 'destroys',
    input: { line: z.string().min(1).max(12_000) },
    about: () => undefined,
    isAside: true,
    commands: ({ line }, { reach, records }) => {
      const typed = readCommand(line, records)
      if (typed === undefined || !asks(typed))
        throw new Error(`No command that asks the marketplace is called so, or it takes no such flag here: ${line}`)
      return [wordsAt(typed, reach)]
    },
  }),
]
