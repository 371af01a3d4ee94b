/**
 * Queues mails in the transaction of the change that causes them. A row says only what a mail is about. The text, and a
 * token in it, are made when the mail is sent and stored nowhere.
 */
import { insertMail, type MailRow } from '../../store/tables/accounts/mails.ts'
import type { Ctx, Market } from '../market.ts'

/** A mail without its id. */
export interface MailContent {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** How mails leave: by SMTP, only into the log (in the simulator), or not at all. */
export const mailTransport = ({ world, config }: Pick<Market, 'world' | 'config'>) =>
  world.mail ? 'smtp' : config.mode === 'dev' ? 'log' : 'none'

/** Queues a mail about `about`, the id of a row or an email. Does nothing where no mail is configured. */
export async function queueMail(ctx: Pick<Ctx, 'tx' | 'world' | 'config'>, kind: MailRow['kind'], about: string) {
  if (mailTransport(ctx) === 'none') return
  await insertMail(ctx.tx, { id: ctx.world.id('mail', about), kind, about }, ctx.world.now())
}
