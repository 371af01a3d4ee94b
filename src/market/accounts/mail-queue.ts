/**
 * Letters, queued with the change that they tell of. A row says only what a letter is about; its words, and a token in
 * them, are made when it is sent and kept nowhere.
 */
import { insertMail, type MailRow } from '../../store/tables/mails.ts'
import type { Ctx, Market } from '../market.ts'

/** A letter without its id. */
export interface Words {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** How letters leave: by SMTP; shown in the log, in the simulator alone; or not at all. */
export const wayOf = ({ world, config }: Pick<Market, 'world' | 'config'>) =>
  world.mail ? 'smtp' : config.mode === 'dev' ? 'log' : 'none'

/** Queues a letter in the transaction of what it tells of. Where no mail is configured, nobody will send it. */
export async function queueMail(ctx: Pick<Ctx, 'tx' | 'world' | 'config'>, kind: MailRow['kind'], about: string) {
  if (wayOf(ctx) === 'none') return
  await insertMail(ctx.tx, { id: ctx.world.id('mail'), kind, about }, ctx.world.now())
}
