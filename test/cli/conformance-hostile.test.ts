// engines: embedded; process: shared
/** An agent that writes what steers a terminal, and its own secret, wherever its words are shown: neither gets out, in whatever form a run is told. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { reportNames } from '../../src/conform/reports/names.ts'
import { run } from './program.ts'

const test = suite('conformance of a hostile agent')
let folder: string

/** Of a made-up history: whoever has recorded it did not mask it. */
const SECRET = 'whsec_9aZ0123456789abcdefghijklmnopqrstuv'
const STEERS = '\u001b]0;mine\u0007\u001b[2J\u009b31m\u202e\u2028\r::error::x'
const steering = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u

/** Verifies nothing, says both in its answers, its work and its last words, and ends of an event that it does not know. */
const AGENT = `
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
const words = JSON.parse(process.env.WORDS) + process.env.MARKETPLACE_WEBHOOK_SECRET
createServer(socket => {
  socket.on('error', () => {})
  let text = ''
  socket.on('data', async chunk => {
    text += chunk.toString()
    const body = text.slice(text.indexOf('\\r\\n\\r\\n') + 4)
    let event
    try { event = JSON.parse(body) } catch { return }
    if (event.event === 'task.archived') {
      console.error(words)
      process.exit(7)
    }
    socket.end('HTTP/1.1 200 OK\\r\\nX-Words: \\x9b31m' + process.env.MARKETPLACE_WEBHOOK_SECRET + '\\r\\nContent-Type: text/plain\\r\\nConnection: close\\r\\n\\r\\n' + words)
    const say = fields => {
      const body = JSON.stringify({ ...fields, taskId: event.data.taskId })
      const timestamp = String(Date.now())
      const key = process.env.MARKETPLACE_WEBHOOK_SECRET
      const signature = createHmac('sha256', key).update(timestamp + '.' + body).digest('hex')
      const headers = { 'Content-Type': 'application/json', 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature }
      return fetch(event.data.callbackUrl, { method: 'POST', headers, body }).catch(() => {})
    }
    if (!event.data?.callbackUrl) return
    if (event.event === 'task.submitted' || event.data.test) await say({ action: 'accept' })
    if (!event.data.test) await say({ action: 'deliver', content: words })
  })
}).listen(process.env.PORT, '127.0.0.1')
`

const ONLY = ['--only', 'sig.wrong-secret', 'life.delivers', 'http.unknown-event', 'safe.secret', 'conn.endpoint-200']
const told = (name: string) => join(folder, `report.${name}`)

/** All that a run has said, by where it stands. */
const texts = new Map<string, string>()

function note(from: string, { out, err, code }: { out: string; err: string; code: number | null }): void {
  assert.is(code, exitCodes.check, `${from}: ${out}${err}`)
  for (const name of reportNames) texts.set(`${from}: the file of ${name}`, readFileSync(told(name), 'utf8'))
  texts.set(`${from}: stdout`, out)
  texts.set(`${from}: stderr`, err)
}

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-hostile-'))
  writeFileSync(join(folder, 'agent.mjs'), AGENT)
  const files = reportNames.map(name => ['--report', `${name}=${told(name)}`])
  const history = join(folder, 'run.jsonl')
  const start = `WORDS='${JSON.stringify(STEERS)}' exec node agent.mjs '${STEERS.replace('\r', '')}'`
  const common = ['conformance', ...ONLY, ...files.flat()]
  note('played', await run([...common, '--start', start, '--save-history', history], folder))
  texts.set('the history', readFileSync(history, 'utf8'))
  // What another version has kept is not masked.
  const kept = readFileSync(history, 'utf8').replaceAll(/whsec_X+/g, SECRET)
  assert.match(kept, SECRET)
  writeFileSync(history, kept)
  const again = ['conformance', ...ONLY, '--history', history]
  note('judged again', await run([...common, '--history', history], folder))
  for (const name of reportNames) {
    const { out, err } = await run([...again, '--report', name], folder)
    texts.set(`${name} on stdout`, out + err)
  }
  for (const flags of [['--json'], ['--explain', 'life.delivers']]) {
    const { out, err } = await run(
      [...again, ...flags].filter(word => flags[0] === '--json' || !ONLY.includes(word)),
      folder,
    )
    texts.set(flags.join(' '), out + err)
  }
})

test.after(() => rmSync(folder, { recursive: true, force: true }))

test('its words are told, so that there is something to see', () => {
  for (const where of ['played: stdout', 'played: the file of html', 'played: the file of github', 'the history'])
    assert.match(texts.get(where)!, /\\u001b\]0;mine/, where)
  assert.match(texts.get('judged again: stdout')!, 'whsec_9aZ0…')
})

test('nothing in it steers a terminal', () => {
  for (const [where, text] of texts) {
    const sign = steering.exec(text)
    const near = sign && JSON.stringify(text.slice(Math.max(0, sign.index - 60), sign.index + 20))
    assert.is(near, null, where)
  }
})

test('no line of it is a command to a runner but ours', () => {
  for (const [where, text] of texts) assert.not.match(text, /^::error::x/m, where)
})

test('no secret is told', () => {
  for (const [where, text] of texts) {
    const [secret] = /(?:whsec_|svc_)(?!X)\w{5,}/.exec(text) ?? []
    assert.is(secret, undefined, where)
  }
})

test.run()
