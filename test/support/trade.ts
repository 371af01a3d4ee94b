/** A marketplace with one buyer, one builder and an agent that can be hired, for a suite of tests. */
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from './marketplace.ts'

export interface Trade {
  marketplace: TestMarketplace
  buyer: TestUser
  builder: TestUser
  agent: ListedAgent
}

/** `cents`: what the buyer has. */
export async function openTrade(cents: number): Promise<Trade> {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', cents)
  const builder = await marketplace.join('builder')
  return { marketplace, buyer, builder, agent: await marketplace.list(builder) }
}
