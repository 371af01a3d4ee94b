/** Creates the first administrator at a start, and warns if there is none. Source: A-5. */
import { limits } from '../../api/limits.ts'
import { hasAdministrator, userByEmail, withoutSecondFactor } from '../../store/tables/accounts/users.ts'
import type { Market } from '../market.ts'
import { createUser, hashPassword } from './accounts.ts'
import { guessable } from './common-passwords.ts'

export interface FirstAdministrator {
  email: string
  password: string
}

/** Creates the first administrator. Never promotes an account and never changes a password. Source: A-5. */
export async function ensureAdministrator(market: Market, { password, ...given }: FirstAdministrator): Promise<void> {
  const { db, world, log } = market
  const email = given.email.trim().toLowerCase()
  const { password: length, email: longest } = limits.account
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > longest) {
    throw new Error(`MARKETPLACE_ADMIN_EMAIL is no email address: ${email.slice(0, 100)}`)
  }
  const known = await db.read(q => userByEmail(q, email))
  if (known?.isAdmin) return
  if (known) {
    throw new Error(`${email} belongs to an account that is no administrator. Choose another MARKETPLACE_ADMIN_EMAIL.`)
  }
  if (password.length < length[0] || password.length > length[1]) {
    throw new Error(`MARKETPLACE_ADMIN_PASSWORD must have ${length[0]} to ${length[1]} characters.`)
  }
  const name = 'Administrator'
  const fault = await guessable(password, { email, name }, market.config)
  if (fault) throw new Error(`MARKETPLACE_ADMIN_PASSWORD ${fault}.`)
  const passwordHash = await hashPassword(password)
  const made = { email, name, passwordHash, isBuilder: false, isAdmin: true }
  try {
    const { id } = await db.write(tx => createUser(tx, world, made))
    log({ type: 'administrator', userId: id, email })
  } catch (error) {
    // Another instance that starts at the same moment may have created it.
    if (!(await db.read(q => userByEmail(q, email)))?.isAdmin) throw error
  }
}

/** Warns if nobody can approve agents, confirm deposits or settle disputes. */
export async function warnWithoutAdministrator({ db, log }: Pick<Market, 'db' | 'log'>): Promise<void> {
  if (await db.read(hasAdministrator)) return
  log({
    type: 'warning',
    message:
      'There is no administrator, so nobody can approve agents, confirm deposits or settle disputes. ' +
      'Set MARKETPLACE_ADMIN_EMAIL and MARKETPLACE_ADMIN_PASSWORD, and start again.',
  })
}

const NAMED = 5

/** Where second factors are required, warns of administrators who have none and so can settle no money. Source: A-194. */
export async function warnWithoutSecondFactor(market: Pick<Market, 'db' | 'log' | 'config'>): Promise<void> {
  if (market.config.adminTotp !== 'required') return
  const { rows, total } = await market.db.read(q => withoutSecondFactor(q, NAMED))
  if (total === 0) return
  const names = [...rows.map(({ email }) => email), ...(total > NAMED ? ['others'] : [])].join(', ')
  market.log({
    type: 'warning',
    message:
      `MARKETPLACE_ADMIN_TOTP is required, but these administrators have no second factor and can settle no money: ${names}. ` +
      'Each turns it on with npx agent-marketplace account totp begin.',
  })
}
