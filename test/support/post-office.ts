/** A real SMTP server in this process: keeps what it is given, and refuses when it is told to. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

interface Received {
  from: string
  to: string[]
  /** As it came: headers and text. */
  raw: string
  subject: string
  text: string
}

export async function openPostOffice() {
  const received: Received[] = []
  const office = {
    received,
    /** Refuses mails with this SMTP status; null takes them. */
    refusal: null as number | null,
    url: '',
    close: () => new Promise<void>(resolve => server.close(resolve)),
  }
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username = '' }, _session, done) => done(null, { user: username }),
    onRcptTo(_address, _session, done) {
      if (office.refusal === null) done()
      else done(Object.assign(new Error('Not now'), { responseCode: office.refusal }))
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString()
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw, ...parts(raw) })
        done()
      })
    },
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  office.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  return office
}

function parts(raw: string) {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  const isQuoted = /^content-transfer-encoding: quoted-printable/im.test(head)
  const text = isQuoted ? unquoted(body) : body
  return { subject: /^subject: (.*)$/im.exec(head)?.[1]?.trim() ?? '', text: text.replaceAll('\r\n', '\n') }
}

function unquoted(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
