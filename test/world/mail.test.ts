// engines: embedded; process: shared
/** One mail and its server: what is sent, and what is told of each way in which it fails. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createMailer, proveMail } from '../../src/world/mail.ts'
import { until } from '../support/patience.ts'
import { openRawPostOffice, type SmtpFault } from '../support/raw-post-office.ts'

const mail = { id: 'mail_1', to: 'ann, "bob"@example.com', subject: 'A link', text: 'Here it is.' }

/** A server and a way to it, which have ended after the work. */
async function withOffice(
  work: (office: Awaited<ReturnType<typeof openRawPostOffice>>) => Promise<unknown>,
): Promise<void> {
  const office = await openRawPostOffice()
  try {
    await work(office)
  } finally {
    office.close()
  }
}

test('a mail has its sender, one receiver whatever characters it has, and an id that stays the same', () =>
  withOffice(async office => {
    for (const from of ['Market <hello@market.example>', 'hello@market.example']) {
      const mailer = createMailer({ smtpUrl: office.url, from })
      assert.equal(await mailer.send(mail), { ok: true })
      await mailer.close()
      const of = (name: string) => office.heard.filter(line => line.startsWith(name))
      assert.equal(of('MAIL'), ['MAIL FROM:<hello@market.example>'], from)
      assert.equal(of('RCPT'), ['RCPT TO:<"ann, \\"bob\\""@example.com>'], from)
      assert.equal(of('Message-ID'), ['Message-ID: <mail_1@market.example>'], from)
      assert.equal(of('Subject'), ['Subject: A link'])
      assert.equal(of('Here'), ['Here it is.'])
    }
  }))

test('of each failure it is told what the server said, and only a refused mail or receiver is refused for good', () =>
  withOffice(async office => {
    const due: [SmtpFault, permanent: boolean, message: string][] = [
      ['closes at greeting', false, 'Connection closed unexpectedly'],
      ['closes in the middle', false, 'Connection closed unexpectedly'],
      ['refuses for now', false, "Can't send mail - all recipients were rejected: 451 later"],
      ['refuses the receiver', true, "Can't send mail - all recipients were rejected: 550 nobody here"],
      ['refuses the mail', true, 'Message failed: 550 not this one'],
      // What the operator has set can be mended.
      ['refuses the sender', false, 'Mail command failed: 550 not from you'],
      ['refuses the password', false, 'Invalid login: 535 who are you'],
    ]
    for (const [fault, permanent, message] of due) {
      office.fault = fault
      const smtpUrl = fault === 'refuses the password' ? office.url.replace('//', '//me:wrong@') : office.url
      const mailer = createMailer({ smtpUrl, from: 'hello@market.example' })
      const result = await mailer.send({ ...mail, to: 'ann@example.com' })
      await mailer.close()
      assert.equal(result, { ok: false, permanent, message }, fault!)
    }
  }))

test('a mail that takes too long, and one that is under way when the marketplace closes, say which of both', () =>
  withOffice(async office => {
    office.fault = 'silent'
    const late = createMailer({ smtpUrl: office.url, from: 'hello@market.example', deadlineMs: 500 })
    assert.equal(await late.send(mail), {
      ok: false,
      permanent: false,
      message: 'The mail could not be sent within 0.5 s.',
    })
    await late.close()
    await until('no connection', () => office.connections() === 0)
    const closed = createMailer({ smtpUrl: office.url, from: 'hello@market.example' })
    const underWay = closed.send(mail)
    await until('its connection', () => office.connections() === 1)
    await closed.close()
    const closing = { ok: false, permanent: false, message: 'The marketplace is closing its connections.' }
    assert.equal(await underWay, closing)
    assert.equal(await closed.send(mail), closing)
  }))

test('a server that lets us sign in is proven without a mail, and another is told in its words', () =>
  withOffice(async office => {
    const url = office.url.replace('//', '//me:wrong@')
    assert.is(await proveMail(url), null)
    office.fault = 'refuses the password'
    assert.is(await proveMail(url), 'Invalid login: 535 who are you')
    await until('no connection', () => office.connections() === 0)
    assert.is(office.taken, 0)
  }))

test.run()
