/** A marketplace with two agents, of which the first is hired: for commands that show what was sent. */
import type { Test } from 'uvu'
import { openTrade, type Trade } from '../support/trade.ts'

interface Sent extends Trade {
  /** Submits a task. Resolves to its id once its webhook was sent. */
  submitted(): Promise<string>
}

/** Opened before the tests of a file, and closed after them. */
export function openSent(test: Test): Sent {
  const sent = {} as Sent
  test.before(async () => {
    Object.assign(sent, await openTrade(50_000))
    await sent.marketplace.list(sent.builder, { name: 'Another Agent' })
  })
  test.after(() => sent.marketplace.close())
  sent.submitted = async () => {
    const { id } = await sent.marketplace.draft(sent.buyer, sent.agent)
    await sent.buyer.client.submitTask({ id })
    await sent.marketplace.webhooksSent()
    return id
  }
  return sent
}
