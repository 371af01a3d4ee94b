/** What somebody evil does with each word that he may write, in a simulator: for the pages that show it. */
import { HttpUser } from '../../src/sim/http-user.ts'
import { hire } from '../cli/dev-lines.ts'
import { isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import type { openMistakenAgent } from './agent.ts'
import { type Dev, userOf } from './crowd.ts'

/** Text that would act, turn what is beside it, or be very long, if it were more than text. */
const EVIL = `<img src=x onerror="document.title='acted'"><script>document.title='acted'</script> \u202Etxet\u2066 \u0007\u0085 </bdi>`
const hostile = (characters: number) => EVIL.padEnd(characters, 'x').slice(0, characters)
const HOSTILE = hostile(isLong ? 9_000 : 900)
/** Does nothing by itself. */
const SILENT = 'silent-analyst'
/** As much as an agent may deliver. */
const MOST = 50_000

/** By the first part of an address, what its other parts are. null: there is none, and its pages are left out. */
export type Known = Readonly<Record<string, readonly string[] | null>>

type Agent = Awaited<ReturnType<typeof openMistakenAgent>>

/** All who have an account, and all that is listed, have evil names. */
async function renameAll(dev: Dev, id: string): Promise<void> {
  for (const as of ['buyer', 'builder'] as const) {
    // Keys change no names.
    const { client } = new HttpUser(dev.ready.url)
    await client.signInAs({ as })
    await client.updateMe({ name: `${as} ${EVIL}`.slice(0, 100) })
    await client.createKey({ name: EVIL.slice(0, 100) })
  }
  const { client } = userOf(dev, 'builder')
  await client.updateAgent({ id, name: hostile(100), tagline: hostile(200), description: hostile(5_000) })
  await client.addSample({ id, title: hostile(200), input: hostile(5_000), output: hostile(isLong ? MOST : 900) })
}

/** Somebody plays the agent: its work is evil, and so is the name of its file. */
async function deliver(dev: Dev, id: string): Promise<void> {
  const { client } = userOf(dev, 'builder')
  await client.acceptTask({ id })
  const content = hostile(isLong ? MOST : 900)
  const file = { name: `${hostile(200)}.csv`, content: new Blob([HOSTILE]) }
  await client.agentDeliver({ id, content, notes: hostile(900), files: [file] })
}

/** A task that was delivered, one that is in dispute, with words that somebody evil wrote, and one whose webhook was refused with such. */
export async function doThings(dev: Dev, agent: Agent): Promise<Known> {
  const { client } = userOf(dev, 'buyer')
  const { id: agentId } = await client.getAgent({ id: SILENT })
  await renameAll(dev, agentId)
  const task = { agentId, title: hostile(180), description: HOSTILE, requirements: hostile(900), agreedPrice: 500 }
  for (const isReviewed of [true, false]) {
    const { id } = await client.createTask(task)
    await client.submitTask({ id })
    await deliver(dev, id)
    await client.sendMessage({ id, content: hostile(isLong ? 5_000 : 900) })
    if (!isReviewed) {
      await client.disputeTask({ id, reason: hostile(900) })
      return { ...(await refused(dev, agent)), tasks: [id], disputes: [id], agents: [SILENT], hire: [SILENT] }
    }
    await client.approveTask({ id })
    await client.submitReview({ id, rating: 1, comment: hostile(900) })
  }
  throw new Error('Nothing is in dispute')
}

async function refused(dev: Dev, agent: Agent): Promise<Known> {
  const own = dev.ready.agents.find(({ slug }) => slug === 'my-agent')!
  agent.refuseWith(HOSTILE)
  agent.spoil()
  const failing = await hire(dev, own.id)
  await dev.until(
    'its refusal',
    ({ type, status, taskId }) => type === 'webhook' && status === 401 && taskId === failing,
  )
  const deliveries = await userOf(dev, 'builder').client.listMyDeliveries({ taskId: failing })
  return {
    deliveries: [deliveries.items[0]!.id],
    conformance: isLong ? await judged(dev, agent, own.id) : null,
  }
}

/** A run takes its time. */
async function judged(dev: Dev, agent: Agent, agentId: string): Promise<string[]> {
  agent.mend()
  const { client } = userOf(dev, 'builder')
  const { id } = await client.judgeAgent({ agentId, only: ['sig.valid'] })
  await until('the end of the run', async () => (await client.getConformanceRun({ id })).state !== 'running')
  return [id, 'sig.valid']
}
