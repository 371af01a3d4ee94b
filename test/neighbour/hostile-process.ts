/** The ten hostile builders, in a process of their own: what they cost must not slow down who measures. Ends with its input. */
import net from 'node:net'
import { attackAll, attacks } from './attacks.ts'
import { Caller } from './caller.ts'
import type { Resident } from './population.ts'
import { strangers } from './strangers.ts'

interface Orders {
  url: string
  hostile: Resident[]
  victims: string[]
  only?: string[]
  by: 'insiders' | 'strangers'
}

const { url: base, hostile, victims, only, by }: Orders = JSON.parse(process.env.NEIGHBOUR_ORDERS!)
// It takes connections and never says a word.
const tarpit = net.createServer(socket => socket.on('error', () => {}).resume())
await new Promise<void>(resolve => tarpit.listen(0, '127.0.0.1', resolve))
const url = new URL(`${base}/#${(tarpit.address() as net.AddressInfo).port}`)

const counts: Record<string, number> = {}
const note = (what: string) => {
  counts[what] = (counts[what] ?? 0) + 1
}
// What is still under way is cut off: nobody waits for it.
process.stdin.resume().once('end', () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(Object.entries(counts).sort()))}\n`, () => process.exit())
})
for (const me of hostile) {
  const caller = new Caller(base, me.address)
  caller.credential = { authorization: `Bearer ${me.key}` }
  void attackAll({ caller, me, lister: hostile[0]!, victims, url, note }, { insiders: attacks, strangers }[by], only)
}
