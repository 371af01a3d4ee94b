/** Signing up, in and out by forms. Source: A-9, A-307. */
import { endpoints } from '../../api/endpoints/index.ts'
import { Refusal } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import type { Actor, Caller, OwnCtx, ReadCtx } from '../../market/market.ts'
import { verbs } from '../../market/verbs.ts'
import type { Config } from '../../settings/config.ts'
import { type Html, html } from '../../shared/html.ts'
import { bodyOf, noInput } from '../input.ts'
import { SentPage, seeOther } from '../page.ts'
import { type Fields, type Form, faultsOf, field, localPath, type Typed } from './forms.ts'
import { document, siteName } from './layout.ts'
import { PublicFiles } from './style.ts'

export type FormCtx = OwnCtx & { actor: Actor | null; caller: Caller }
export type PageCtx = ReadCtx & { actor: Actor | null }
interface Query {
  readonly to?: string | undefined
  readonly as?: string | undefined
}

const whereTo = ({ to, as }: Query, { console }: Config, { isBuilder, isAdmin }: Someone) => {
  const asked = localPath(to)
  if (asked !== null || console === 'off') return asked ?? '/agents'
  if (as === 'builder') return isBuilder ? '/console/agents' : '/console/settings'
  return isBuilder || isAdmin ? '/console' : '/agents'
}
interface Someone {
  readonly isBuilder: boolean | number
  readonly isAdmin: boolean | number
}

interface Begun {
  readonly data: { readonly user: Someone }
  readonly session: string | null
}

export async function signInPage(ctx: PageCtx, { query }: { query: Query }): Promise<SentPage> {
  if (ctx.actor) return seeOther(whereTo(query, ctx.config, ctx.actor.user))
  return shown(ctx, 'in', { typed: { to: query.to }, refusal: null })
}

export async function signUpPage(ctx: PageCtx, { query }: { query: Query }): Promise<SentPage> {
  if (ctx.actor) return seeOther(whereTo(query, ctx.config, ctx.actor.user))
  const isBuilder = query.as === 'builder' ? 'on' : undefined
  return shown(ctx, 'up', { typed: { to: query.to, isBuilder }, refusal: null })
}

export const signIn = (ctx: FormCtx, { body: typed }: { body: Typed }) =>
  begun(ctx, 'in', typed, async () => {
    const { email, password, code } = typed
    // A recovery code is longer than what an authenticator shows.
    const given = code?.trim() ? { [/^\d{6}$/.test(code.trim()) ? 'totp' : 'recoveryCode']: code.trim() } : {}
    return verbs.login(ctx, { ...noInput, body: bodyOf(endpoints.login.body, { email, password, ...given }) })
  })

export const signUp = (ctx: FormCtx, { body: typed }: { body: Typed }) =>
  begun(ctx, 'up', typed, async () => {
    const { email, password, name, isBuilder } = typed
    const body = bodyOf(endpoints.register.body, { email, password, name, isBuilder: isBuilder === 'on' })
    return verbs.register(ctx, { ...noInput, body })
  })

export async function signOut(ctx: FormCtx): Promise<SentPage> {
  const { actor, db } = ctx
  if (actor?.via !== 'session') return seeOther('/agents')
  const { session } = await db.write(tx => verbs.logout({ ...ctx, tx, actor }, noInput))
  return seeOther('/agents', { session })
}

/** Begins a session and leads on, or shows the form again with what was wrong. */
async function begun(ctx: FormCtx, kind: 'in' | 'up', typed: Typed, act: () => Promise<Begun>) {
  try {
    const { session, data } = await act()
    const as = kind === 'up' && typed.isBuilder ? 'builder' : undefined
    return seeOther(whereTo({ to: typed.to, as }, ctx.config, data.user), { session })
  } catch (refusal) {
    // Who asks too often is told so as everywhere.
    if (!(refusal instanceof Refusal) || refusal.status >= 500) throw refusal
    return shown(ctx, kind, { typed, refusal })
  }
}

async function shown(
  ctx: Pick<OwnCtx, 'config' | 'memory'> & { actor: Actor | null },
  kind: 'in' | 'up',
  form: Form,
): Promise<SentPage> {
  const { config, memory, actor } = ctx
  const files = memory.of(PublicFiles)
  await files.readStyle(config)
  const title = kind === 'in' ? 'Sign in' : 'Create an account'
  const body = document(
    { config, files, actor: form.refusal ? null : actor },
    {
      path: `/sign-${kind}`,
      title,
      description: `${title} at ${siteName(config)}: hire agents, and pay when you are content.`,
      // Where it leads differs with who came here.
      isIndexed: form.refusal === null && !form.typed.to,
      main: html`<div class="gate stack s5"><h1>${title}</h1>${isToHire(form) && html`<p class="lead2">Whoever hires has an account. You come back to where you were.</p>`}${kind === 'in' ? signInForm(config, form) : signUpForm(form)}</div>`,
    },
  )
  return new SentPage({ status: form.refusal?.status, body })
}

const isToHire = ({ typed }: Form) => /^\/agents\/[^/]+\/hire$/.test(typed.to ?? '')
const onwards = ({ typed }: Form) => typed.to && html`<input type="hidden" name="to" value="${typed.to}">`
const withTo = (path: string, { typed }: Form) => (typed.to ? `${path}?to=${encodeURIComponent(typed.to)}` : path)

const email = (form: Form) => field(form, { name: 'email', label: 'Email', type: 'email', complete: 'username' })

function signInForm({ mode, console }: Config, form: Form): Html {
  const asksCode = form.refusal?.errors?.totp !== undefined || Boolean(form.typed.code)
  const names: Fields = { email: ['email', 'Email'], password: ['password', 'Password'], totp: ['code', 'Code'] }
  const forgot =
    mode === 'serve' &&
    console === 'on' &&
    html`<p><a class="link" href="/console/sign-in?forgot">Forgot the password</a></p>`
  return html`<form class="card" method="post" action="/sign-in" aria-label="Sign in"><div class="in stack">${faultsOf(form, names)}${email(form)}${field(form, { name: 'password', label: 'Password', type: 'password', complete: 'current-password' })}<details${asksCode && html` open`}><summary>I have a second factor</summary>${field(form, { name: 'code', label: 'Code', field: 'totp', isOptional: true, complete: 'one-time-code', help: 'What your authenticator shows, or one of your recovery codes.' })}</details>${onwards(form)}<button class="b main-b w big">Sign in</button><p><a class="link" href="${withTo('/sign-up', form)}">Create an account</a></p>${forgot}</div></form>`
}

function signUpForm(form: Form): Html {
  const { password, name } = limits.account
  const names: Fields = { email: ['email', 'Email'], password: ['password', 'Password'], name: ['name', 'Name'] }
  return html`<form class="card" method="post" action="/sign-up" aria-label="Create an account"><div class="in stack">${faultsOf(form, names)}${field(form, { name: 'name', label: 'Name', length: name, complete: 'name', help: 'Others see it.' })}${email(form)}${field(form, { name: 'password', label: 'Password', type: 'password', length: password, complete: 'new-password', help: `${password[0]} characters or more; no common one.` })}<label class="row"><input type="checkbox" name="isBuilder"${form.typed.isBuilder === 'on' && html` checked`}> I build agents and want to list them</label>${onwards(form)}<button class="b main-b w big">Create the account</button><p><a class="link" href="${withTo('/sign-in', form)}">I have one: sign in</a></p></div></form>`
}
