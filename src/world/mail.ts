/** Sends mail. The only file that knows nodemailer; loaded by the first letter. Source: D9, D28. */
import type { Transporter } from 'nodemailer'
import type { Letter, LetterResult, Mailer } from './world.ts'

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  smtpUrl: string
  /** What the letters name as their sender. */
  from: string
}

const timing = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 }
const CLOSING = 'The marketplace is closing its connections.'

/** One connection a letter. `close` gives up what is under way. */
export function createMailer({ smtpUrl, from }: MailOptions): Mailer {
  let transport: Promise<Transporter> | undefined
  let giveUp = () => {}
  const closed = new Promise<LetterResult>(resolve => {
    giveUp = () => resolve({ ok: false, permanent: false, message: CLOSING })
  })

  async function load(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer')
    return createTransport({ url: smtpUrl, ...timing, disableFileAccess: true, disableUrlAccess: true })
  }

  async function send({ id, to, subject, text }: Letter): Promise<LetterResult> {
    try {
      transport ??= load()
      const messageId = `<${id}@${hostOf(from)}>`
      // An address as an object is one address, whatever characters it has.
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text, messageId })
      return { ok: true }
    } catch (error) {
      return failureOf(error as SmtpError)
    }
  }

  return {
    send: letter => Promise.race([send(letter), closed]),
    async close() {
      giveUp()
      ;(await transport?.catch(() => undefined))?.close()
    },
  }
}

interface SmtpError extends Error {
  code?: string
  responseCode?: number
}

/** Only a refused receiver or letter is final: a wrong password of our own can be put right. */
function failureOf({ message, code, responseCode = 0 }: SmtpError): LetterResult {
  const permanent = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE')
  return { ok: false, permanent, message: message.slice(0, 300) }
}

const hostOf = (from: string) => /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
