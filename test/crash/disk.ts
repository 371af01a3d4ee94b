/** A disk that fails while the server is at work: it says so and ends, and nothing that it answered is lost. */
import * as assert from 'uvu/assert'
import { Caller, Cut } from './caller.ts'
import { type Deployment, withDeployment } from './deployment.ts'
import { readFileAfterCrash } from './stored-state.ts'

// Room for the zeros that are written ahead once, and not for the second time. In blocks of 512 bytes.
export const fullDisk = ['sh', '-c', 'ulimit -f 6144; exec "$@"', 'sh']

/** Every thread's 25th sync and all after it. */
export const failingSync = [
  'strace',
  '-f',
  '-qq',
  '-o',
  '/dev/null',
  '-e',
  'trace=fdatasync',
  '-e',
  'inject=fdatasync:error=EIO:when=25+',
]

export interface DiskReport {
  /** Tasks whose creation was answered with 201. */
  answered: number
  code: number | null
  /** What the last line of its log says. */
  said: string
}

/** Creates tasks until the server has gone, then starts it again on a healthy disk. Throws if an answered one is missing. */
export const writeUntilItFails = (folder: string, command: readonly string[]): Promise<DiskReport> =>
  withDeployment(folder, null, deployment => write(deployment, command))

async function write(deployment: Deployment, command: readonly string[]): Promise<DiskReport> {
  const { ready } = await deployment.prepare()
  const server = await deployment.serveUnder(command)
  const answered: string[] = []
  let number = 0
  const client = async () => {
    const caller = new Caller(server.url)
    caller.credential = { authorization: `Bearer ${ready.accounts.buyer.apiKey}` }
    try {
      for (;;) {
        const title = `Task ${++number}`
        const description = 'A long story. '.repeat(700)
        const body = { agentId: ready.agents[0].id, title, description, agreedPrice: 200 }
        const { status } = await caller.send('POST', { path: '/api/tasks', body })
        if (status === 201) answered.push(title)
        else assert.is(status, 500)
      }
    } catch (error) {
      if (!(error instanceof Cut)) throw error
    } finally {
      caller.close()
    }
  }
  await Promise.all(Array.from({ length: 4 }, client))
  const { code, out } = await server.ended
  const { message: said } = JSON.parse(out)

  const again = await deployment.start('serve')
  await again.kill('SIGTERM')
  const { tasks } = await readFileAfterCrash(deployment.file)
  const there = new Set([...tasks.values()].map(({ title }) => title))
  assert.equal(
    answered.filter(title => !there.has(title)),
    [],
    'answered, and gone',
  )
  await deployment.check()
  return { answered: answered.length, code, said }
}
