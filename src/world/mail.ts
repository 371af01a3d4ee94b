/** Sends mail by SMTP. The only file that knows nodemailer, which is loaded after the start. Source. */
import type { Transporter } from 'nodemailer'
import type { Mail, Mailer, MailResult } from './world.ts'

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password if the server needs them. */
  smtpUrl: string
  /** The sender of the mails. */
  from: string
  /** The longest that sending one mail may take. */
  deadlineMs?: number
}

const timing = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 }
/** Shorter than the claim of a mail, so that no other instance sends it meanwhile. */
const DEADLINE_MS = 60_000
const LOAD_AFTER_MS = 1_000
const CLOSING = 'The marketplace is closing its connections.'

export const loadNodemailer = () => import('nodemailer')

const transportTo = async (smtpUrl: string): Promise<Transporter> => {
  const { createTransport } = await loadNodemailer()
  return createTransport({ url: smtpUrl, ...timing, disableFileAccess: true, disableUrlAccess: true })
}

/** Whether a server lets us sign in. Resolves to why it does not; null if it does. Sends no mail. */
export async function proveMail(smtpUrl: string): Promise<string | null> {
  const transport = await transportTo(smtpUrl)
  return transport
    .verify()
    .then(
      () => null,
      ({ message }: Error) => message.slice(0, 300),
    )
    .finally(() => transport.close())
}

/** Opens one connection for each mail. `close` aborts what is under way. */
export function createMailer({ smtpUrl, from, deadlineMs = DEADLINE_MS }: MailOptions): Mailer {
  let transport: Promise<Transporter> | undefined
  const closing = new AbortController()

  const loaded = () => {
    transport ??= transportTo(smtpUrl)
    return transport
  }
  // Loaded early, because there may be no file descriptor free when the first mail is sent.
  const early = setTimeout(() => void loaded().catch(() => {}), LOAD_AFTER_MS).unref()

  async function send({ id, to, subject, text }: Mail): Promise<MailResult> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(deadlineMs)])
    try {
      const messageId = `<${id}@${hostOf(from)}>`
      // As an object it stays one address, whatever characters it has.
      await (await loaded()).sendMail({ from, to: { name: '', address: to }, subject, text, messageId, signal })
      return { ok: true }
    } catch (error) {
      if (closing.signal.aborted) return { ok: false, permanent: false, message: CLOSING }
      if (signal.aborted)
        return { ok: false, permanent: false, message: `The mail could not be sent within ${deadlineMs / 1000} s.` }
      return failureOf(error as SmtpError)
    }
  }

  return {
    send,
    async close() {
      clearTimeout(early)
      closing.abort()
      ;(await transport?.catch(() => undefined))?.close()
    },
  }
}

interface SmtpError extends Error {
  code?: string
  /** What the server had been told. */
  command?: string
  responseCode?: number
}

/** Only a refused recipient or mail is final. Other faults, such as a sender or a password of our own that is wrong, can be corrected. */
function failureOf({ message, code, command, responseCode = 0 }: SmtpError): MailResult {
  const isRefused = (code === 'EENVELOPE' && command !== 'MAIL FROM') || code === 'EMESSAGE'
  const permanent = responseCode >= 500 && isRefused
  return { ok: false, permanent, message: message.slice(0, 300) }
}

/** A sender has an @, with or without a name before its address. */
const hostOf = (from: string) => from.slice(from.lastIndexOf('@') + 1).replace('>', '')
