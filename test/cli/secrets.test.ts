// engines: embedded; process: shared
/** A deployment tells its secrets to nobody but their owners: neither its log, nor its disk, nor a later answer. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Method } from '../../src/sim/http-user.ts'
import { until } from '../support/patience.ts'
import { openPostOffice } from '../support/post-office.ts'
import { inFolder, start } from './program.ts'

const agentFields = {
  name: 'Secret Keeper',
  tagline: 'Keeps what it is told',
  description: 'An agent that is made to have a webhook secret, and to lose it again by rotation.',
  pricingModel: 'fixed',
  basePrice: 500,
  categoryIds: ['cat_writing'],
  webhookUrl: 'https://agent.invalid/webhook',
}

/** Every place where somebody might look later. */
const lists: readonly string[] = [
  ...['/api/auth/me', '/api/my/api-keys', '/api/my/agents', '/api/tasks', '/api/wallet', '/api/notifications'],
  ...['/api/admin/users', '/api/admin/agents?status=draft', '/api/admin/deposits', '/openapi.json'],
]

function filesUnder(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
  return names.filter(name => statSync(name).isFile())
}

test(
  'after a run with every kind of secret, none is in the log, on the disk or in a later answer',
  inFolder(async folder => {
    const office = await openPostOffice()
    const secrets: Record<string, string> = {
      adminPassword: 'the admin has this one',
      password: 'one password of ann',
      newPassword: 'another password of ann',
      smtpPassword: 'smtpPassword1234',
      metricsToken: 'metricsToken5678',
      wrongPassword: 'what ann mistyped',
    }
    const { child, ended, firstLine } = start(['serve', '--port', '0', '--json'], folder, {
      MARKETPLACE_ADMIN_EMAIL: 'root@example.com',
      MARKETPLACE_ADMIN_PASSWORD: secrets.adminPassword,
      MARKETPLACE_SMTP_URL: office.url.replace('//', `//market:${secrets.smtpPassword}@`),
      MARKETPLACE_MAIL_FROM: 'market@example.com',
      MARKETPLACE_METRICS_TOKEN: secrets.metricsToken,
      MARKETPLACE_TRUST_PROXY: '1',
    })
    const { url } = JSON.parse(await firstLine) as { url: string }
    let requests = 0
    /** Each from an address of its own, as the limits are strict. */
    const ask = async (method: Method, path: string, body?: object | string, headers: Record<string, string> = {}) => {
      const from = { 'x-forwarded-for': `198.51.100.${requests++}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
      const reply = await fetch(url + path, { method, headers: { ...from, ...headers }, ...sent })
      const cookie = reply.headers.getSetCookie()[0]?.split(';', 1)[0]
      const text = await reply.text()
      return { status: reply.status, text, data: JSON.parse(text).data, cookie }
    }

    const email = 'ann@example.com'
    const signUp = { email, password: secrets.password, name: 'Ann', isBuilder: true }
    const { cookie = '' } = await ask('POST', '/api/auth/register', signUp)
    secrets.session = cookie.split('=')[1]!
    const idempotent = { cookie, 'idempotency-key': 'one key' }
    secrets.key = (await ask('POST', '/api/my/api-keys', { name: 'ci' }, idempotent)).data.key
    assert.is((await ask('POST', '/api/my/api-keys', { name: 'ci' }, idempotent)).status, 409)
    const { id } = (await ask('POST', '/api/my/agents', agentFields, { cookie })).data
    const rotate = `/api/my/agents/${id}/webhook-secret`
    secrets.oldWebhookSecret = (await ask('POST', rotate, {}, { cookie })).data.secret
    secrets.webhookSecret = (await ask('POST', rotate, { graceHours: 1 }, { cookie })).data.secret
    assert.is((await ask('POST', `/api/my/agents/${id}/test-connection`, undefined, { cookie })).status, 200)
    await ask('POST', '/api/auth/password-reset', { email })
    // Another mail tells of the new key.
    const token43 = () => office.received.map(({ text }) => /^([\w-]{43})$/m.exec(text)?.[1]).find(Boolean)
    await until('the mail with the code', token43)
    secrets.resetToken = token43()!
    const { resetToken: token, newPassword: password } = secrets
    assert.is((await ask('POST', '/api/auth/password-reset/confirm', { token, password })).status, 200)
    const again = await ask('POST', '/api/auth/login', { email, password })
    secrets.secondSession = again.cookie!.split('=')[1]!

    // Secrets in places where they don't belong.
    await ask('POST', '/api/auth/login', { email, password: secrets.wrongPassword })
    await ask('POST', '/api/auth/login', `{"email":"${email}","password":"${secrets.wrongPassword}"`)
    await ask('GET', `/api/tasks/${secrets.key}`, undefined, { authorization: `Bearer ${secrets.key}` })
    await ask('GET', `/api/nothing/${secrets.webhookSecret}?token=${secrets.resetToken}`)
    await ask('GET', `/api/agents?q=${secrets.key}`, undefined, { authorization: `Basic ${secrets.key}` })
    await ask('POST', `/api/agent/tasks/${secrets.key}/callback`, secrets.webhookSecret)
    await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${secrets.metricsToken}` } })

    const root = await ask('POST', '/api/auth/login', { email: 'root@example.com', password: secrets.adminPassword })
    secrets.adminSession = root.cookie!.split('=')[1]!
    for (const path of lists) {
      for (const headers of [
        { authorization: `Bearer ${secrets.key}` },
        { cookie: again.cookie! },
        { cookie: root.cookie! },
      ]) {
        const { text } = await ask('GET', path, undefined, headers)
        for (const [name, secret] of Object.entries(secrets)) assert.not(text.includes(secret), `${name} in ${path}`)
      }
    }

    child.kill('SIGTERM')
    const { code, out, err } = await ended
    await office.close()
    assert.is(code, 0, err)
    assert.ok(out.includes('"type":"mail"') && out.includes('"type":"check"') && out.includes('"requestId"'))
    const lines = out.trim().split('\n')
    for (const line of lines.slice(1)) assert.ok(JSON.parse(line).time && JSON.parse(line).level, line)
    const kept = filesUnder(folder)
    assert.ok(kept.length >= 2)
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(secret.length >= 15, name)
      // Without its prefix too, which is no secret.
      for (const form of [secret, secret.replace(/^(?:svc_.{8}|whsec_)/, '')]) {
        assert.not(out.includes(form), `${name} on stdout`)
        assert.not(err.includes(form), `${name} on stderr`)
        for (const file of kept) assert.not(readFileSync(file).includes(form), `${name} in ${file}`)
      }
    }
  }),
)

test.run()
