/** What the market does without HTTP: durable submits against native SQLite, webhooks against a bare pool. */
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { compared, type Row, rateRow } from './table.ts'
import { start } from './worker.ts'

const ROUNDS = 5
const WARM_UP = 3
const SENDING_ROUNDS = 12
const SUBMITS = 2000
const DELIVERIES = 3000

/** Each round: new drafts, a copy of the file for the peer, the statements recorded and undone, then both sides. */
export async function durableSubmit(bench: Bench): Promise<Row[]> {
  const worker = await bench.quiet()
  const native = start('./native.ts')
  const ours: number[] = []
  const peer: number[] = []
  let about = ''
  for (let round = 0; round < ROUNDS; round++) {
    const ids: string[] = await worker.ask('drafts', SUBMITS)
    const file = join(bench.folder, `native-${round}.db`)
    await worker.ask('copy', file)
    const transactions: { reads: boolean }[][] = await worker.ask('record', ids)
    const one = transactions[0]!
    const { rate, settings } = await native.ask('run', { file, transactions })
    peer.push(rate)
    ours.push(await worker.ask('submit', { ids, atOnce: 64 }))
    about = `${one.length} statements a transaction, ${one.filter(step => step.reads).length} of them read; peer: ${settings}`
  }
  await native.end()
  console.log(`Durable submit: ${about}`)
  return [rateRow('durable submit, 64 in flight : native SQLite', compared(ours, peer), '>= 1.5')]
}

/**
 * What was submitted while nothing was sent, sent; the peer posts the same bytes with the same signatures. The sink does
 * the same work for both, and the snapshot that the submits have made due is over before.
 */
export async function dispatch(bench: Bench): Promise<Row[]> {
  const [worker, bare] = [await bench.quiet(), await bench.bare()]
  const poster = start('./bare.ts') // neither side shares its thread with the sink
  const ours: number[] = []
  const peer: number[] = []
  const send = async (count: number): Promise<number> => {
    await worker.ask('submit', { ids: await worker.ask('drafts', count), atOnce: 64 })
    await worker.ask('snapshot')
    await bare.worker.ask('listen')
    return worker.ask('dispatch')
  }
  await worker.ask('dispatch') // what other measurements left
  const pool = { port: bare.sinkPort, ca: bare.ca, connections: 64 }
  // The first ones compile the code of either side, and open the connections.
  for (let round = -WARM_UP; round < SENDING_ROUNDS; round++) {
    const ownRate = await send(DELIVERIES)
    const requests = await bare.worker.ask('heard')
    await bare.worker.ask('listen')
    const peerRate = await poster.ask('post', { ...pool, requests })
    await bare.worker.ask('heard')
    if (round < 0) continue
    ours.push(ownRate)
    peer.push(peerRate)
  }
  await poster.end()
  return [rateRow('webhooks signed, sent, logged : bare undici pool', compared(ours, peer), '>= 0.4')]
}
