/** Asks a signed-in user for the password again, before a change that a stolen session must not make. */
import { refuse } from '../../api/failures.ts'
import type { UserRow } from '../../store/tables/accounts/users.ts'
import type { OwnCtx } from '../market.ts'
import { guess } from './guesses.ts'
import { verifyPassword } from './passwords.ts'

export async function checkOwnPassword(ctx: OwnCtx, user: UserRow, password: string): Promise<void> {
  const made = await guess(ctx, [{ rule: 'own', at: [user.id] }])
  if (!(await verifyPassword(user.passwordHash, password, ctx.caller))) throw refuse('wrong_password')
  await made.right()
}
