/** `marketplace tasks watch`, `deliver` and `download`: what is more than one request. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TaskState, taskStates } from '../../api/flow.ts'
import type { TaskRecord } from '../../api/records.ts'
import { UsageError } from '../../settings/config.ts'
import { numberGiven, textGiven } from '../command-line/json-input.ts'
import { type Connection, type ConnectionFlags, connected } from '../connection/connection.ts'
import { whenReaderEnds } from '../dev/output-reader.ts'
import { taskCalled } from '../endpoint/whole-id.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { diskReason } from '../output/disk-faults.ts'
import { showProgress } from '../output/progress.ts'
import { plain } from '../output/ui.ts'
import { writeWhole } from '../output/whole-file.ts'

export interface WatchFlags extends ConnectionFlags {
  until?: string
  timeout?: string
}

const ends: readonly TaskState[] = ['completed', 'cancelled']
const LONGEST_S = 7 * 86_400

/** Follows a task until it ends, or until a state. */
export async function watch(id: string, flags: WatchFlags): Promise<number> {
  const until = taskStates.find(state => state === flags.until)
  if (flags.until !== undefined && !until) {
    throw new UsageError(`--until takes ${taskStates.join(' or ')}, not ${flags.until}.`)
  }
  const limitS = numberGiven('--timeout', flags.timeout ?? '3600', [1, LONGEST_S])
  return connected(flags, 'buyer', async connection => {
    const task = await follow(connection, await taskCalled(connection, id), until, limitS * 1000)
    if (task && connection.json) connection.out.json({ type: 'end', success: true, data: { task } })
    return exitCodes.ok
  })
}

// The first look comes soon, because much happens within a second in dev; a task that rests is asked about rarely.
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000

/** Returns null once nobody reads what is shown. */
async function follow(connection: Connection, id: string, until: TaskState | undefined, limitMs: number) {
  const progress = await showProgress(connection)
  let isRead = true
  const stopLooking = whenReaderEnds(() => (isRead = false))
  let shown = ''
  let pause = FIRST_PAUSE_MS
  let waited = 0
  try {
    for (;;) {
      if (!isRead) return null
      const task = await connection.client.getTask({ id })
      const now = stateOf(task)
      if (now !== shown) {
        progress.clear()
        show(connection, task)
        pause = FIRST_PAUSE_MS
      }
      shown = now
      if (task.status === until || (!until && ends.includes(task.status))) return task
      if (ends.includes(task.status)) throw never(task, until)
      waited += pause
      if (waited > limitMs) throw late(task)
      progress.wait(`Task ${id} is ${now}`)
      await new Promise(resolve => setTimeout(resolve, pause))
      pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)
    }
  } finally {
    stopLooking()
    progress.clear()
  }
}

const stateOf = ({ status, revisionCount, dispute, deliverable }: TaskRecord) =>
  [
    status,
    revisionCount > 0 && `revision ${revisionCount}`,
    deliverable && `deliverable ${deliverable.id}`,
    dispute?.status === 'open' && 'in dispute',
    dispute?.outcome && `decided: ${dispute.outcome}`,
  ]
    .filter(Boolean)
    .join(', ')

function show({ out, json }: Connection, task: TaskRecord): void {
  const { id, status, updatedAt, title } = task
  if (json) out.json({ type: 'state', taskId: id, status, text: stateOf(task), at: updatedAt })
  else out.line(`${out.colour.dim(updatedAt)} ${out.colour.bold(stateOf(task))}  ${plain(title)}`)
}

const never = ({ id, status }: TaskRecord, until: TaskState | undefined) =>
  new Fault(`Task ${id} is ${status}, so it does not become ${until} any more`, { code: exitCodes.failed })

const late = ({ id, status }: TaskRecord) =>
  new Fault(`Task ${id} is still ${status}`, {
    code: exitCodes.failed,
    hint: 'Give it more time: --timeout takes seconds.',
  })

export interface DeliverFlags extends ConnectionFlags {
  content?: string
  notes?: string
  file?: string[]
}

/** Delivers as the builder. Files need a key, because agents send them. */
export async function deliver(given: string, flags: DeliverFlags): Promise<number> {
  const content = flags.content === undefined ? undefined : await textGiven('--content', flags.content)
  const files = await Promise.all((flags.file ?? []).map(fileAt))
  const { notes } = flags
  const words = { ...(content !== undefined && { content }), ...(notes !== undefined && { notes }) }
  if (files.length === 0 && content === undefined) {
    throw new UsageError('tasks deliver needs --content, --file, or both. They may both be given.')
  }
  return connected(flags, 'builder', async ({ client, out, answer }) => {
    const id = await taskCalled({ client }, given)
    const task =
      files.length > 0
        ? (await client.agentDeliver({ id, ...words, files })).task
        : await client.deliverTask({ id, content: content ?? '', ...(notes !== undefined && { notes }) })
    return answer(task, () => out.line(`Task ${task.id} is ${task.status}.`))
  })
}

async function fileAt(path: string) {
  try {
    return { name: basename(path), content: new Uint8Array(await readFile(path)) }
  } catch (error) {
    throw new UsageError(`--file: ${path} can't be read: ${diskReason(error as Error)}.`)
  }
}

export interface DownloadFlags extends ConnectionFlags {
  dir?: string
  clobber?: boolean
}

/** Saves the files of the latest deliverable, or one file by its id. */
export const download = (given: string, fileId: string | undefined, flags: DownloadFlags) =>
  connected(flags, 'buyer', async ({ client, out, notes, answer }) => {
    const id = await taskCalled({ client }, given)
    const ids = fileId ? [fileId] : ((await client.getTask({ id })).deliverable?.files ?? []).map(file => file.id)
    const saved: string[] = []
    for (const wanted of ids) {
      const { name, bytes } = await client.downloadFile({ id, fileId: wanted })
      saved.push(await save(join(flags.dir ?? '.', fileNameOf(name, wanted)), bytes, flags.clobber === true))
    }
    return answer({ files: saved }, () => {
      if (saved.length === 0) notes.line('The latest deliverable has no file.')
      for (const path of saved) out.line(plain(path))
    })
  })

/** A name comes from an agent, so nothing of it may lead to another folder, or hide. */
function fileNameOf(name: string, id: string): string {
  const last = plain(name.split(/[/\\]/).at(-1) ?? '').replace(/^\.+/, '')
  return last.trim() === '' ? id : last
}

async function save(path: string, bytes: Uint8Array, clobber: boolean): Promise<string> {
  try {
    if (clobber) writeWhole(path, bytes, 0o666)
    else await writeNew(path, bytes)
    return path
  } catch (error) {
    const code = exitCodes.failed
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new Fault(`${plain(path)} is there already`, { code, hint: '--clobber writes over it.' })
    const reason = diskReason(error as Error)
    throw new Fault(`${plain(path)} can't be written: ${reason}`, { code, hint: '--dir names another folder.' })
  }
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(path, bytes, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(path, { force: true })
    throw error
  }
}
