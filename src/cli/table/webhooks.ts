/** Commands about webhooks: sending single ones, the log of those that were sent, and sending them again. */
import { agentEvents } from '../../api/flow.ts'
import { durations } from '../../api/limits.ts'
import { deliveryStates } from '../../api/records.ts'
import type { CommandRecord, Option } from '../command-line/command.ts'
import { jsonOnce, reach } from '../command-line/options.ts'
import type { ListFlags, ShowFlags } from '../commands/deliveries.ts'
import type { ResendFlags } from '../commands/deliveries-resend.ts'
import type { EmitFlags } from '../commands/emit.ts'
import { secretOptions } from '../connection/webhook-secret.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { exitCodes } from '../exit-codes.ts'

const onlyEvent: Option = ['--event <event>', 'only this one, such as task.submitted']
const onlySince: Option = ['--since <time>', 'only those of this time until now: 90s, 5m, 1h, 2d']
const onlyTask: Option = ['--task <id>', 'only those of this task']
const onlyAbout: Option = ['--search <text>', 'only those whose task has it in its title']
const ofAgent: Option = ['--agent <agent>', 'only its log, by id or slug (default: those of all your agents)']

export const webhooks: readonly CommandRecord[] = [
  {
    name: 'emit',
    takes: ['<event>'],
    values: agentEvents.map(event => [event, '']),
    summary: 'Send signed webhooks to an agent, and judge what it does',
    options: [
      ['--to <url>', "the agent's webhook; http:// is fine on this machine"],
      ...secretOptions,
      ['-d, --data <json>', 'fields of data that are to be different: JSON, @file, or - for stdin'],
      ['--field <path=value...>', 'any field by its path, such as data.agreedPrice=500'],
      ['--header <line...>', "a header that is added or replaced, such as 'X-Trace: 1'"],
      ['--forge <kind>', 'what a right agent refuses, such as wrong-secret or old-timestamp; all tries every kind'],
      ['--dress <kind>', 'unusual, and genuine all the same, such as key-order or large; all tries every kind'],
      ['--fault <kind>', 'what goes wrong on the way, such as answer-lost or response-lost; all tries every kind'],
      ['--times <n>', 'so many webhooks, each of a task of its own'],
      ['--gap <time>', 'how long after each the next is sent: 50ms, 1s (default: at once)'],
      ['--callback-url <url>', 'data.callbackUrl (default: one that this command listens at)'],
      ['--wait <time>', `how long to wait for callbacks (default: ${durations.testCallbackMs / 1000}s)`],
      ['--strict', 'what is weak fails too, such as no callback'],
      ['--dry-run', 'send nothing; print it as a command with curl'],
      jsonOnce,
    ],
    notes: `It needs no marketplace, and listens for the callbacks itself.
Events: ${agentEvents.join(', ')}.
The kinds of --forge, --dress and --fault are listed where one is unknown; marketplace fault arm --help says what each fault does.
In the folder of a \`dev\`, the secret of the agent that it forwards to that URL is known.
Exit code ${exitCodes.failed}: the answer was not 2xx; ${exitCodes.check}: a callback or what it did with a kind was wrong; ${exitCodes.network}: there was no answer.`,
    examples: [
      'marketplace emit task.submitted --to http://127.0.0.1:3000/webhook --secret-file secret.txt',
      `marketplace emit task.message --to http://127.0.0.1:3000/webhook --secret-file secret.txt --field 'data.message=Hi'`,
      'marketplace emit task.submitted --to http://127.0.0.1:3000/webhook --secret-file secret.txt --forge all',
      'marketplace emit task.submitted --to http://127.0.0.1:3000/webhook --secret-file secret.txt --fault answer-lost',
      'marketplace emit task.submitted --to http://127.0.0.1:3000/webhook --secret-file secret.txt --dry-run',
    ],
    run: async ([event = ''], flags: EmitFlags) => (await import('../commands/emit.ts')).emit(event, flags),
  },
  {
    name: 'deliveries list',
    endpoints: ['listMyDeliveries'],
    takes: ['[agent]'],
    summary: 'The webhooks of an agent, or of all, and what became of them',
    options: [
      ['--failed', 'only those that were given up'],
      ['--all', 'with --failed: also those of samples that are down on purpose'],
      onlyEvent,
      onlyTask,
      onlySince,
      onlyAbout,
      ['--limit <n>', 'how many at most (default: 20)'],
      ...reach('builder'),
      jsonOnce,
    ],
    examples: [
      'marketplace deliveries list --failed --since 1h',
      'marketplace deliveries list sample-agent --failed --since 1h --event task.submitted --json',
    ],
    run: async ([agent], flags: ListFlags) => (await import('../commands/deliveries.ts')).list(agent, flags),
  },
  endpointCommand({
    name: 'deliveries count',
    endpoint: 'countMyDeliveries',
    person: 'builder',
    summary: 'How many webhooks to your agents are in each state',
    flags: [
      ['--agent <agent>', 'only those of one, by id or slug', 'agent'],
      ['--event <event>', 'only this one, such as task.submitted', 'event'],
      ['--task <id>', 'only those of this task', 'taskId'],
      [...onlySince, 'since', 'since'],
      ['--search <text>', 'only those whose task has it in its title', 'q'],
    ],
    shows: deliveryStates,
    examples: ['marketplace deliveries count', 'marketplace deliveries count --agent sample-agent --json'],
  }),
  {
    name: 'deliveries show',
    endpoints: ['getDelivery'],
    takes: ['<id>'],
    summary: 'One webhook: its request, its attempts, the last response',
    options: [ofAgent, ...reach('builder'), jsonOnce],
    notes: 'Each attempt is shown with its cause, and when the next one comes.',
    examples: [
      'marketplace deliveries show DELIVERY_ID',
      'marketplace deliveries show DELIVERY_ID --agent my-agent --json',
    ],
    run: async ([id = ''], flags: ShowFlags) => (await import('../commands/deliveries.ts')).show(id, flags),
  },
  {
    name: 'deliveries resend',
    endpoints: ['resendDeliveries'],
    takes: ['[id...]'],
    summary: 'Send webhooks again, and follow each to its end',
    options: [
      ['--failed', 'all that were given up and not resent since, instead of ids'],
      onlyEvent,
      onlyTask,
      onlySince,
      onlyAbout,
      ofAgent,
      ['--timeout <seconds>', 'how long to follow them (default: 60)'],
      ...reach('builder'),
      jsonOnce,
    ],
    notes: `They have the same body as before.
Exit code ${exitCodes.ok}: all were delivered; ${exitCodes.failed}: one was not within the time. It stays in the queue all the same.`,
    examples: [
      'marketplace deliveries resend DELIVERY_ID',
      'marketplace deliveries resend --failed --agent my-agent --since 1h',
    ],
    run: async (ids, flags: ResendFlags) => (await import('../commands/deliveries-resend.ts')).resend(ids, flags),
  },
]
