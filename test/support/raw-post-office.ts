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
  | 'refuses the mail' // when it has read it
  | null

export async function openRawPostOffice() {
  const open = new Set<net.Socket>()
  const office = {
    fault: null as SmtpFault,
    /** Mails taken. */
    taken: 0,
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

function converse(socket: net.Socket, office: { fault: SmtpFault; taken: number }): void {
  const { fault } = office
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
    if (inLetter) {
      if (fault === 'closes in the middle') return socket.destroy()
      if (line !== '.') return
      inLetter = false
      if (fault === 'refuses the mail') return socket.write('550 not this one\r\n')
      office.taken++
      return socket.write('250 taken\r\n')
    }
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'RCPT' && fault === 'refuses for now') return socket.write('451 later\r\n')
    if (verb === 'RCPT' && fault === 'refuses the receiver') return socket.write('550 nobody here\r\n')
    if (verb === 'DATA') inLetter = true
    if (verb === 'QUIT') return socket.end('221 bye\r\n')
    return socket.write(verb === 'DATA' ? '354 go on\r\n' : '250 ok\r\n')
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
