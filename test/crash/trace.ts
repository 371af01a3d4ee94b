/** The server under strace: each answer leaves after the sync of the journal write that it rests on. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Caller } from './caller.ts'
import { type Deployment, withDeployment } from './deployment.ts'

/** False where there is no strace, or where it may not look into a process. */
export const canTrace = () => spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0

export interface TraceReport {
  answers: number
  journalWrites: number
  syncs: number
}

/** Writes over HTTP, several at a time; then reads in the trace that each kept the order. Throws at the first that didn't. */
export const traceWrites = (folder: string, writes: number): Promise<TraceReport> =>
  withDeployment(folder, null, deployment => trace(deployment, writes))

async function trace(deployment: Deployment, writes: number): Promise<TraceReport> {
  const { ready } = await deployment.prepare()
  const log = join(deployment.folder, 'trace')
  const calls = 'trace=pwrite64,pwritev,write,writev,sendto,sendmsg,fdatasync,fsync'
  const server = await deployment.serveUnder(['strace', '-f', '-y', '-s', '1000000', '-e', calls, '-o', log])
  const titles: string[] = []
  const client = async () => {
    const caller = new Caller(server.url)
    caller.credential = { authorization: `Bearer ${ready.accounts.buyer.apiKey}` }
    while (titles.length < writes / 2) {
      const title = `Traced ${titles.length}.`
      titles.push(title)
      const body = { agentId: ready.agents[0].id, title, description: 'What the trace will show.', agreedPrice: 200 }
      const { id } = await caller.call('POST', '/api/tasks', body)
      await caller.call('POST', `/api/tasks/${id}/submit`)
    }
    caller.close()
  }
  await Promise.all(Array.from({ length: 5 }, client))
  await server.end()
  const lines = read(await readFile(log, 'utf8'))
  for (const title of titles) {
    const created = assertOrder(lines, title, 'draft', 0)
    assertOrder(lines, title, 'pending', created + 1)
  }
  const count = (kind: Line['kind']) => lines.filter(line => line.kind === kind).length
  return { answers: titles.length * 2, journalWrites: count('journal'), syncs: count('synced') }
}

interface Line {
  kind: 'journal' | 'sync' | 'synced' | 'socket'
  thread: string
  text: string
}

/** What touches the journal or a socket, in the order in which it happened; a call that took long is two lines. */
function read(trace: string): Line[] {
  const syncing = new Set<string>()
  const lines: Line[] = []
  for (const line of trace.split('\n')) {
    const [, thread = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const journal = /^\w+\(\d+<[^>]*\.journal>/.test(text)
    if (/^f(?:data)?sync\(/.test(text) && journal) {
      lines.push({ kind: 'sync', thread, text })
      if (text.endsWith('= 0')) lines.push({ kind: 'synced', thread, text })
      else syncing.add(thread)
    } else if (/^<\.\.\. f(?:data)?sync resumed/.test(text) && syncing.delete(thread)) {
      assert.match(text, /= 0$/)
      lines.push({ kind: 'synced', thread, text })
    } else if (/^pwritev?(?:64)?\(/.test(text) && journal) lines.push({ kind: 'journal', thread, text })
    else if (/^(?:writev?|sendto|sendmsg)\(\d+<(?:socket|TCP)/.test(text)) lines.push({ kind: 'socket', thread, text })
  }
  return lines
}

/** Journal write, sync begun, sync ended, answer: of the first write with this title from `from` on. Returns the last one's place. */
function assertOrder(lines: readonly Line[], title: string, status: string, from: number): number {
  const answer = lines.findIndex(
    ({ kind, text }) => kind === 'socket' && text.includes(title) && text.includes(`\\"status\\":\\"${status}\\"`),
  )
  const written = lines.findIndex(({ kind, text }, at) => at >= from && kind === 'journal' && text.includes(title))
  const begun = lines.findIndex(({ kind }, at) => at > written && kind === 'sync')
  const synced = lines.findIndex(
    ({ kind, thread }, at) => at > begun && kind === 'synced' && thread === lines[begun]?.thread,
  )
  const places = `journal write ${written}, sync ${begun} to ${synced}, answer ${answer}`
  const inOrder = from <= written && written < begun && begun < synced && synced < answer
  assert.ok(inOrder, `${title} ${status}: ${places}, none of them before ${from}`)
  return answer
}
