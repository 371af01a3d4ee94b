/** Many rows for the lists of a dev, made by its interface. */
import { HttpUser } from '../../src/sim/http-user.ts'
import { type devOf, hire } from '../cli/dev-lines.ts'

export type Dev = Awaited<ReturnType<typeof devOf>>

export function userOf({ ready }: Dev, side: 'buyer' | 'builder' | 'admin'): HttpUser {
  const user = new HttpUser(ready.url)
  user.key = ready.accounts[side]!.apiKey
  return user
}

/** Does something so many times, some at once. */
export async function times(many: number, act: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const one = async () => {
    while (next < many) await act(next++)
  }
  await Promise.all(Array.from({ length: 16 }, one))
}

/** Draws up half as many tasks, as one account may not write more, and lets much happen to one: it is talked about, and is asked for what is refused. Returns its id. */
export async function crowd(dev: Dev, rows: number): Promise<string> {
  const agentId = dev.ready.agents[0]!.id
  const buyer = userOf(dev, 'buyer')
  const { client } = buyer
  const task = { agentId, description: 'Forty letters in one heap: sort them.', agreedPrice: 500 }
  await times(rows / 2, at => client.createTask({ ...task, title: `Sort the letters of year ${at}` }))
  const id = await hire(dev, agentId)
  await dev.until('the work', line => line.type === 'task' && line.taskId === id && line.to === 'delivered')
  await times(rows / 10, at => client.sendMessage({ id, content: `What of letter ${at}?` }))
  await times(rows, () => buyer.ask('POST', `/api/tasks/${id}/cancel`, undefined, 'key'))
  return id
}
