/** Notes on tasks that come while one is being written are written together: under load a group costs little more than one. */
import type { Db, Tx } from '../../store/db.ts'

interface Note {
  readonly taskId: string
  readonly work: (tx: Tx) => Promise<unknown>
  done(outcome: unknown): void
  fail(error: unknown): void
}

interface Writer {
  waiting: Note[]
  busy: boolean
}

/** So many tasks are held at once at most. */
const GROUP = 32
const writers = new WeakMap<Db, Writer>()

/** Runs `work` in a transaction that holds the task, perhaps with others'. What one throws touches no other. */
export const inGroups = <Outcome>(db: Db, taskId: string, work: (tx: Tx) => Promise<Outcome>): Promise<Outcome> =>
  new Promise((done, fail) => {
    const writer = writers.get(db) ?? { waiting: [], busy: false }
    writers.set(db, writer)
    writer.waiting.push({ taskId, work, done: outcome => done(outcome as Outcome), fail })
    if (!writer.busy) void writeAll(db, writer)
  })

async function writeAll(db: Db, writer: Writer): Promise<void> {
  writer.busy = true
  while (writer.waiting.length > 0) await writeGroup(db, writer.waiting.splice(0, GROUP))
  writer.busy = false
}

/** Never rejects. */
async function writeGroup(db: Db, group: readonly Note[]): Promise<void> {
  try {
    const outcomes = await db.write(tx => runAll(tx, group))
    for (const [at, note] of group.entries()) note.done(outcomes[at])
  } catch (error) {
    if (group.length === 1) group[0]!.fail(error)
    else for (const note of group) await writeGroup(db, [note])
  }
}

async function runAll(tx: Tx, group: readonly Note[]): Promise<unknown[]> {
  // In one order everywhere, or two groups could wait for each other.
  const taskIds = [...new Set(group.map(note => note.taskId))].sort()
  await Promise.all(taskIds.map(taskId => tx.lock('tasks', taskId)))
  return Promise.all(group.map(note => note.work(tx)))
}
