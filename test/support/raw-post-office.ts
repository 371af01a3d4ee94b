/** An SMTP server of raw lines, that stops, refuses or goes on dripping where a test wants it to. */
import net from 'node:net'

/** Where a conversation goes wrong; `null`: nowhere. */
export type SmtpFault =
  | 'silent' // never greets
  | 'drips' // greets without end
  | 'closes at greeting'
  | 'closes in the middle' // of the mail
  | 'resets'
  | 'refuses for now'
  | 'refuses the receiver'
  | 'refuses the sender'
  | 'refuses the password'
  | 'refuses the mail' // when it has read it
  | null

export async function openRawPostOffice() {
  const open = new Set<net.Socket>()
  const office = {
    fault: null as SmtpFault,
    /** Mails taken. */
    taken: 0,
    /** The lines of the last conversation. */
    heard: [] as string[],
    connections: () => open.size,
    url: '',
    close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
  const server = net.createServer(socket => {
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    converse(socket, office)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  office.url = `smtp://127.0.0.1:${(server.address() as net.AddressInfo).port}`
  return office
}

/** By the fault: at which verb, and in which words. */
const refusals: Readonly<Record<string, readonly [verb: string, answer: string]>> = {
  'refuses for now': ['RCPT', '451 later\r\n'],
  'refuses the receiver': ['RCPT', '550 nobody here\r\n'],
  'refuses the sender': ['MAIL', '550 not from you\r\n'],
  'refuses the password': ['AUTH', '535 who are you\r\n'],
}

const answers: Readonly<Record<string, string>> = {
  EHLO: '250-here\r\n250 AUTH PLAIN\r\n',
  DATA: '354 go on\r\n',
}

interface Office {
  fault: SmtpFault
  taken: number
  heard: string[]
}

function takes(office: Office): string {
  if (office.fault === 'refuses the mail') return '550 not this one\r\n'
  office.taken++
  return '250 taken\r\n'
}

function converse(socket: net.Socket, office: Office): void {
  const { fault } = office
  office.heard = []
  if (fault === 'silent') return
  if (fault === 'closes at greeting') return void socket.end()
  if (fault === 'resets') return void socket.resetAndDestroy()
  if (fault === 'drips') {
    const timer = setInterval(() => socket.write('220-here we are\r\n'), 20)
    return void socket.once('close', () => clearInterval(timer))
  }
  let inLetter = false
  let text = ''
  const answer = (line: string) => {
    office.heard.push(line)
    if (inLetter) {
      if (fault === 'closes in the middle') return socket.destroy()
      if (line !== '.') return
      inLetter = false
      return socket.write(takes(office))
    }
    const verb = line.slice(0, 4).toUpperCase()
    const [refused, refusal] = refusals[fault ?? ''] ?? []
    if (refusal && verb === refused) return socket.write(refusal)
    if (verb === 'DATA') inLetter = true
    if (verb === 'QUIT') return socket.end('221 bye\r\n')
    return socket.write(answers[verb] ?? '250 ok\r\n')
  }
  socket.write('220 here we are\r\n')
  socket.on('data', chunk => {
    text += chunk
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 2)
      answer(line)
    }
  })
}
