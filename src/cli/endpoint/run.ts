/** Runs a command for one endpoint: builds the input, asks where something can't be undone, calls the typed client. */

import type { Endpoint } from '../../api/endpoint.ts'
import { endpoints } from '../../api/endpoints/index.ts'
import type { CallOptions } from '../../client/typed-client.ts'
import { UsageError } from '../../settings/config.ts'
import { attributeOf } from '../command-line/filled-by.ts'
import { linesOfStdin } from '../command-line/json-input.ts'
import { type Connection, connected } from '../connection/connection.ts'
import { diagnosisLines, reachTo } from '../connection/diagnosis.ts'
import { momentSince } from '../connection/domain-time.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import type { Person } from '../connection/target.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { durationGiven } from '../output/numbers.ts'
import { canAsk } from '../output/output.ts'
import { askHidden, confirmed } from '../output/prompts.ts'
import { giveSecretsIn } from '../output/ui.ts'
import { type Fields, fieldsOf, refuseMissing } from './fields.ts'
import { agentCalled, categoryCalled, refusedWith, withDiagnosis } from './find-agent.ts'
import type { EndpointRow, RowFlags, Typed } from './row.ts'
import { showReply } from './view.ts'
import { wholeId } from './whole-id.ts'

type Call = (input: Fields, options: CallOptions) => Promise<unknown>

export async function runRow(row: EndpointRow, words: readonly string[], flags: RowFlags): Promise<number> {
  const record: Endpoint = endpoints[row.endpoint]
  const given = await fieldsOf(row, record, words, flags)
  refuseMissing(row, record, given)
  const mayAct = confirmed(row.name, row.confirms, flags)
  return connected(flags, row.person, async connection => {
    await needCredential(row, record, connection)
    const input = { ...(await idsFor(connection, row, flags, given)), ...(await answersTo(row, flags)) }
    await mayAct()
    const asked = (connection.client[row.endpoint] as Call)(input, row.session ? { by: 'session' } : {})
    const typed = { words, flags, reach: reachOf(row, flags, connection) }
    const data = await (row.name === 'agents reactivate'
      ? withDiagnosis(asked, connection, String(input.id))
      : advised(asked, row, typed))
    if (row.prints) giveSecretsIn(data)
    connection.answer(data, () => {
      showReply(connection, row, typed, data)
      if (row.next) connection.notes.line(row.next(typed.reach))
    })
    if (row.diagnoses && !connection.json) await showDiagnosis(connection, String(input.id))
    return row.proves && !(data as Fields)[row.proves] ? exitCodes.check : exitCodes.ok
  })
}

async function showDiagnosis({ client, notes, found }: Connection, id: string): Promise<void> {
  const { diagnosis } = await client.diagnoseTask({ id })
  for (const line of diagnosis ? diagnosisLines(diagnosis, reachTo(found)) : []) notes.line(line)
}

/** The flags that reach the same marketplace as the same person. */
const reachOf = ({ person }: EndpointRow, { as = person }: RowFlags, { found }: Connection) =>
  flagsToReach(found, as as Person)

/** Some endpoints take only sessions, and some only keys. */
async function needCredential({ name, session }: EndpointRow, { auth }: Endpoint, { found, openSession }: Connection) {
  if ((session || auth === 'session') && !(await openSession())) {
    throw new Fault(`${name} takes no key: it needs a signed-in session`, {
      code: exitCodes.auth,
      hint: `Sign in: ${nextSteps.signIn(found.url)}`,
    })
  }
  if (auth === 'key' && !found.key) {
    throw new Fault(`${name} needs an API key: agents use it, and they have no session`, {
      code: exitCodes.auth,
      hint: `Make a key: ${nextSteps.createKey(flagsToReach(found, 'builder'))}`,
    })
  }
}

/** Replaces slugs of agents, names of categories, emails and ends of ids by ids. */
async function idsFor(connection: Connection, row: EndpointRow, flags: RowFlags, given: Fields): Promise<Fields> {
  const { client } = connection
  const input = { ...given }
  const named = [
    ...(row.takes ?? []).map(([, field, kind]) => [field, kind] as const),
    ...(row.flags ?? []).map(([text, , sets, kind]) => [flags[attributeOf(text)] ? sets : '', kind] as const),
  ]
  for (const [word, field, kind] of row.takes ?? [])
    if (kind === undefined && typeof input[field] === 'string')
      input[field] = await wholeId(connection, row.name, word, input[field])
  for (const [field, kind] of named) {
    if (typeof field !== 'string' || input[field] === undefined) continue
    if (kind === 'agent') input[field] = (await agentCalled(connection, String(input[field]))).id
    if (kind === 'since') input[field] = await momentSince(connection, durationGiven(String(input[field])))
    if (kind !== 'category' && kind !== 'categories') continue
    const known = await client.listCategories()
    const idOf = (word: string) => categoryCalled(word, known).id
    input[field] = kind === 'category' ? idOf(String(input[field])) : (input[field] as string[]).map(idOf)
  }
  return input
}

async function answersTo({ name, asks = [] }: EndpointRow, flags: RowFlags): Promise<Fields> {
  if (asks.length === 0) return {}
  const answers: Fields = {}
  if (flags.passwordStdin) {
    const lines = await linesOfStdin('--password-stdin')
    for (const [at, [field]] of asks.entries()) answers[field] = lines[at] ?? ''
    return answers
  }
  if (flags.json || !canAsk()) {
    throw new UsageError(`${name} can't ask here: give on stdin what it asks for, with --password-stdin.`)
  }
  for (const [field, question] of asks) answers[field] = await askHidden(question)
  return answers
}

interface Advice {
  readonly of: RegExp
  readonly status: number
  /** `flags`: those that reach the same marketplace. */
  hint(message: string, flags: string, words: readonly string[]): string | undefined
}

const known: readonly Advice[] = [
  {
    of: /^tasks /,
    status: 404,
    hint: (message, flags) =>
      message === 'No such task' ? `Yours are shown by: ${nextSteps.listTasks(flags)}` : undefined,
  },
]

function advised<T>(asked: Promise<T>, { name }: EndpointRow, { words, reach }: Typed): Promise<T> {
  const advice = known.find(({ of }) => of.test(name))
  if (!advice) return asked
  return refusedWith(asked, advice.status, message => advice.hint(message, reach, words))
}
