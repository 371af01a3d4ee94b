// engines: embedded; process: shared
/** The keys of a live log, without a terminal: what they mean, what the key line says, and that nothing tears it. */
import { stripVTControlCharacters } from 'node:util'
import { Chalk } from 'chalk'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { toRecord } from '../../src/api/diagnosis/record.ts'
import type { ExchangeDetails } from '../../src/api/exchange-records.ts'
import { exchangeText } from '../../src/cli/keys/actions.ts'
import { BottomRows } from '../../src/cli/keys/bottom-rows.ts'
import { Counts } from '../../src/cli/keys/counts.ts'
import { bottomRows, type KeyLine, keyHelp } from '../../src/cli/keys/key-line.ts'
import { type Mode, type Press, pressed } from '../../src/cli/keys/key-presses.ts'
import { showKeys, showStart } from '../../src/cli/keys/start-screen.ts'
import type { Colours } from '../../src/cli/output/colours.ts'
import { createUi } from '../../src/cli/output/ui.ts'
import type { LogEntry, StampedEntry } from '../../src/market/log.ts'
import type { Credentials } from '../../src/sim/seed.ts'
import { printed } from '../conform/golden/renderings.ts'

type Choice = { label: string }

const reading: Mode<Choice> = { is: 'reading' }
const typed = (text: string): Press[] => [...text].map(one => ({ typed: one }))
const [ENTER, ESC, DOWN, UP] = ['return', 'escape', 'down', 'up'].map(name => ({ name })) as [
  Press,
  Press,
  Press,
  Press,
]

/** The mode after these keys, and all that they did. */
function after(mode: Mode<Choice>, ...presses: readonly Press[]) {
  const deeds: unknown[] = []
  for (const press of presses) {
    const outcome = pressed(mode, press)
    mode = outcome.mode
    if (outcome.deed) deeds.push(Object.values(outcome.deed).join(' '))
  }
  return { mode, deeds }
}

test('each key of the help does what it says, and others do nothing', () => {
  const { mode, deeds } = after(reading, ...typed('rRtbcdoa?q'), ENTER)
  assert.equal(mode, reading)
  const words = 'resend,choose,test,buyer,clock,details,console,accounts,help,quit,blank line'
  assert.equal(deeds, words.split(','))
  assert.equal(after(reading, ...typed('xyzT0 '), UP, { name: 'r', ctrl: true, typed: '\x12' }, {}).deeds, [])
  assert.equal(after(reading, { name: 'c', ctrl: true, typed: '\x03' }).deeds, ['interrupt'])
  assert.equal(after(reading, { name: 'z', ctrl: true, typed: '\x1a' }).deeds, ['suspend'])
})

test('the help names each key that acts, and no other', () => {
  const named = [...keyHelp.join('\n').matchAll(/ {2}(\S+) {2}\S/g)].map(([, key]) => key!)
  const acts = (key: string) => after(reading, key === 'Enter' ? ENTER : key === 'Esc' ? ESC : { typed: key })
  for (const key of named) assert.not.equal(acts(key), { mode: reading, deeds: [] }, key)
  const typing = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/']
  const acting = typing.filter(key => acts(key).deeds.length > 0 || acts(key).mode.is !== 'reading')
  assert.equal([...named].sort(), [...acting, 'Enter', 'Esc'].sort())
  assert.match(keyHelp.join('\n'), /q {2}or Ctrl-C: end in order; Ctrl-C again ends at once/)
})

const choosing: Mode<Choice> = { is: 'choosing', choices: ['a', 'b', 'c'].map(label => ({ label })), at: 0 }

test('j and k choose within the list, Enter takes one, Esc none; no other key acts meanwhile', () => {
  const at = (...presses: Press[]) => (after(choosing, ...presses).mode as { at?: number }).at
  assert.is(at(...typed('j')), 1)
  assert.is(at(DOWN, DOWN, DOWN, DOWN), 2)
  assert.is(at(...typed('jjk')), 1)
  assert.is(at(UP), 0)
  const taken = pressed(pressed(choosing, DOWN).mode, ENTER)
  assert.equal(taken, { mode: reading, deed: { does: 'resend chosen', choice: { label: 'b' } } })
  assert.equal(after(choosing, ESC), { mode: reading, deeds: [] })
  assert.equal(after(choosing, ...typed('rtbcd')), { mode: choosing, deeds: [] })
  assert.equal(after(choosing, { name: 'c', ctrl: true }).deeds, ['interrupt'])
})

test('what is typed behind / is a text until Enter; Esc clears it', () => {
  assert.equal(after(reading, ...typed('/qr'), ENTER).deeds, ['filter qr'])
  assert.equal(after(reading, ...typed('/ab'), { name: 'backspace', typed: '\x7f' }, ENTER).deeds, ['filter a'])
  assert.equal(after(reading, ...typed('/ab'), { name: 'u', ctrl: true, typed: '\x15' }).mode, {
    is: 'filtering',
    text: '',
  })
  assert.equal(after(reading, ...typed('/ab'), ESC), { mode: reading, deeds: ['filter '] })
  assert.equal(after(reading, ESC).deeds, ['filter '])
  const { mode } = after(reading, ...typed(`/${'x'.repeat(500)}`), { typed: '\u0007' })
  assert.equal(mode, { is: 'filtering', text: 'x'.repeat(100) })
})

const plain = new Chalk({ level: 0 })
const line: KeyLine = {
  counts: { exchanges: 12, failures: 1, waiting: 2 },
  mode: reading,
  filter: '',
  hidden: 0,
  busy: [],
}
const rowsOf = (more: Partial<KeyLine>, columns = 80, rows = 24) =>
  bottomRows({ ...line, ...more }, { columns, rows }, plain)

test('the key line has the counts, and as many keys as fit, with ? always', () => {
  assert.equal(rowsOf({}), ['12 exchanges  1 failure  2 waiting  r resend  t test  b buyer  / filter  ? help'])
  assert.match(rowsOf({}, 140)[0]!, /r resend {2}t test .* o console {2}c clock {2}R resend one {2}\? help$/)
  assert.match(rowsOf({ busy: ['testing'], filter: 'money', hidden: 3 })[0]!, /^\/money hides 3 .* testing… /)
  for (const columns of [1, 10, 20, 40, 60, 80, 100, 200]) {
    for (const mode of [reading, choosing, { is: 'filtering', text: 'x'.repeat(100) } as const]) {
      for (const row of rowsOf({ mode, busy: ['testing', 'looking'], filter: 'f'.repeat(100) }, columns)) {
        if (columns >= 20) assert.ok(row.length < columns, `${columns}: ${row}`)
      }
    }
  }
})

test('what asks for attention has a colour, and what can be pressed meanwhile is named', () => {
  const tints = ['bold', 'cyan', 'dim', 'green', 'red', 'yellow'] as const
  const tagged = Object.fromEntries(
    tints.map(tint => [tint, (text: string) => `${tint}<${text}>`]),
  ) as unknown as Colours
  const tintedRows = (more: Partial<KeyLine>, columns = 60) =>
    bottomRows({ ...line, ...more }, { columns, rows: 24 }, tagged)
  assert.equal(tintedRows({}), [
    'dim<12 exchanges>  red<1 failure>  yellow<2 waiting>  cyan<r> dim<resend>  cyan<?> dim<help>',
  ])
  const counts = { exchanges: 1, failures: 0, waiting: 0 }
  assert.equal(tintedRows({ counts, filter: 'x', hidden: 3, busy: ['testing'] }, 70), [
    'cyan</x hides 3>  dim<1 exchange>  dim<0 failures>  dim<0 waiting>  yellow<testing…>  cyan<?> dim<help>',
  ])
  assert.equal(tintedRows({ mode: { is: 'filtering', text: 'qr' } }), [
    'cyan</qr_>  cyan<Esc> dim<all lines>  cyan<Enter> dim<only lines with it>',
  ])
  assert.equal(tintedRows({ mode: choosing }), [
    'bold<› a>',
    'dim<  b>',
    'dim<  c>',
    'yellow<1 of 3>  cyan<j> dim<older>  cyan<k> dim<newer>  cyan<Esc> dim<none>  cyan<Enter> dim<resends it>',
  ])
})

test('a list to choose from shows those around the chosen one, and leaves room in a low window', () => {
  const choices = Array.from({ length: 50 }, (_, at) => ({ label: `delivery ${at}` }))
  const rows = rowsOf({ mode: { is: 'choosing', choices, at: 20 } })
  assert.is(rows.length, 9)
  assert.equal(
    rows.filter(row => row.startsWith('› ')),
    ['› delivery 20'],
  )
  assert.match(rows.at(-1)!, /^21 of 50 .* Enter resends it$/)
  assert.equal(rowsOf({ mode: { is: 'choosing', choices, at: 49 } }, 80, 4).slice(0, 2), [
    '  delivery 48',
    '› delivery 49',
  ])
})

const about = { taskId: 'task_1', agentId: 'agt_1', event: 'task.submitted', attempt: 1, ms: 1 } as const
const sent = (deliveryId: string, outcome: 'delivered' | 'retry' | 'failed'): LogEntry => ({
  ...{ type: 'webhook', ...about, deliveryId, outcome, status: 500, reason: null, nextAttemptAt: null },
})

const finding = { cause: 'down_on_purpose', certainty: 'sure', text: 'Nothing listens.' } as const
const downOnPurpose = toRecord(finding, { isDev: true })

test('it counts exchanges, what is red, and webhooks that are tried again', () => {
  const counts = new Counts()
  const take = (entry: LogEntry) => counts.add({ seq: 1, at: 0, realAt: 0, ...entry } as StampedEntry)
  for (const entry of [sent('a', 'retry'), sent('a', 'retry'), sent('b', 'retry'), sent('c', 'delivered')]) take(entry)
  assert.equal([counts.exchanges, counts.failures, counts.waiting], [4, 3, 2])
  for (const entry of [sent('a', 'delivered'), sent('b', 'failed')]) take(entry)
  take({ type: 'info', message: 'Nothing to count' })
  const check = {
    type: 'check',
    agentId: 'agt_1',
    check: 4,
    name: 'endpoint',
    status: 'failed',
    durationMs: 1,
  } as const
  take({ ...check, message: 'Nothing listens at localhost port 9.', diagnosis: downOnPurpose }) // an agent that is down on purpose
  assert.equal([counts.exchanges, counts.failures, counts.waiting], [6, 4, 0])
})

/** As much of a terminal as the key line needs: what it shows, and what has scrolled out above. */
function terminal() {
  const rows = ['']
  let [at, column, top] = [0, 0, 0]
  const put = (text: string) => {
    rows[at] = rows[at]!.slice(0, column).padEnd(column) + text + rows[at]!.slice(column + text.length)
    column += text.length
  }
  const feed = () => {
    column = 0 // As the system does for programs.
    if (++at === rows.length) rows.push('')
  }
  const write = (text: string) => {
    for (const [part, up] of text.replaceAll('\u001b', '␛').matchAll(/␛\[(\d+)A|␛\[(?:J|\?7[lh])|\r|\n|[^␛\r\n]+/g)) {
      if (part === '\r') column = 0
      else if (part === '\n') feed()
      else if (up !== undefined) at = Math.max(top, at - Number(up))
      else if (part === '␛[J') rows.splice(at, rows.length, rows[at]!.slice(0, column))
      else if (!part.startsWith('␛')) put(part)
    }
    return true
  }
  return { write, rows: () => rows, cursor: () => [at, column] }
}

const frame = () => new Promise(resolve => setTimeout(resolve, 40))

test('lines come above the key line and never tear it, many at once as one write; in the end it is gone', async () => {
  const screen = terminal()
  let writes = 0
  let shown = ['the key line']
  const bottom = new BottomRows(
    text => {
      writes++
      return screen.write(text)
    },
    () => shown,
  )
  bottom.print('before\n')
  assert.equal(screen.rows(), ['before', ''])
  bottom.open()
  await frame()
  assert.equal(screen.rows(), ['before', 'the key line'])
  assert.equal(screen.cursor(), [1, 0], 'where all rows can be erased, however a window wraps them')
  const before = writes
  for (let n = 1; n <= 100; n++) bottom.print(`line ${n}\n`)
  await frame()
  assert.is(writes, before + 1)
  assert.equal(screen.rows().slice(99), ['line 99', 'line 100', 'the key line'])
  shown = ['first', 'second', 'third']
  bottom.print('half a ')
  bottom.refresh()
  await frame()
  assert.equal(screen.rows().slice(100), ['line 100', 'first', 'second', 'third'])
  assert.equal(screen.cursor(), [101, 0])
  bottom.print('line\n')
  shown = ['short']
  await frame()
  assert.equal(screen.rows().slice(100), ['line 100', 'half a line', 'short'])
  bottom.print('the last\nno end')
  bottom.close()
  bottom.close()
  bottom.print(' but this\n')
  await frame()
  assert.equal(screen.rows().slice(101), ['half a line', 'the last', 'no end but this', ''])
})

/** As long as real ones, which nothing else may print. */
const keyOf = (name: string) => `svc_${Buffer.from(name).toString('hex').padEnd(48, '0')}`
const SECRET = `whsec_${'c2VjcmV0'.repeat(5)}`
const person = (name: string) => ({
  id: `usr_${name}`,
  email: `${name}@x.y`,
  password: `${name}-1`,
  apiKey: keyOf(name),
})
const sample = {
  id: 'agt_1',
  slug: 'sample-agent',
  webhookUrl: 'https://s.localhost/webhook',
  webhookSecret: SECRET,
}
const mine = { ...sample, id: 'agt_2', slug: 'mine', forwardTo: 'http://localhost:3000/webhook' }
const made = { url: 'http://127.0.0.1:4000', agents: [sample] }

test('dev says at its start where it is, how to see its keys, and which agent can be hired', () => {
  const start = {
    ...made,
    listed: new Set(['agt_1']),
    hasConsole: true,
    keys: 'marketplace dev --show-keys',
    isFound: true,
  }
  const shown = (more: Partial<Parameters<typeof showStart>[1]>, columns: number | null = null) =>
    printed(ui => showStart(ui, { ...start, ...more }), columns)
      .trimEnd()
      .split('\n')
  const at = 'At http://127.0.0.1:4000 (all keys: marketplace dev --show-keys)'
  const console = 'See it all in a browser: http://127.0.0.1:4000/console'
  const hire = (slug: string) => `marketplace simulate buyer ${slug}`
  assert.equal(shown({}), [at, console, `Hire sample-agent: ${hire('sample-agent')}`])
  const forwarded = { agents: [sample, mine] }
  assert.equal(shown({ ...forwarded, hasConsole: false }), [at, 'mine is listed as soon as it passes its test.'])
  const both = new Set(['agt_1', 'agt_2'])
  assert.is(shown({ ...forwarded, listed: both })[2], `mine is listed; hire it: ${hire('mine')}`)
  assert.is(shown({ isFound: false })[2], 'sample-agent is listed.')
  const second = { ...mine, id: 'agt_3', slug: 'other' }
  const of = (...listed: string[]) => shown({ agents: [sample, mine, second], listed: new Set(listed) })[2]
  assert.is(of('agt_1', 'agt_3'), `other is listed; hire it: ${hire('other')}`)
  assert.is(of('agt_1'), 'mine is listed as soon as it passes its test.')
  const unkept = 'At http://127.0.0.1:4000 (nothing is kept; '
  assert.is(shown({ keys: null })[0], `${unkept}with --json its first line has all keys)`)
  assert.is(shown({ keys: null }, 120)[0], `${unkept}press a for all keys)`)
})

test('all keys and secrets are shown whole, and how to hire an agent by a command or by hand', () => {
  const accounts = {
    buyer: person('buyer'),
    builder: person('builder'),
    admin: person('admin'),
  } as Credentials['accounts']
  const shown = (agents: Credentials['agents']) => printed(ui => showKeys(ui, { ...made, accounts, agents }), null)
  const people = `API      http://127.0.0.1:4000
         http://127.0.0.1:4000/docs documents it
buyer    buyer@x.y            password buyer-1
         key ${keyOf('buyer')}
builder  builder@x.y          password builder-1
         key ${keyOf('builder')}
admin    admin@x.y            password admin-1
         key ${keyOf('admin')}
`
  const sampleText = `
agent    sample-agent (agt_1), a working sample
         webhook https://s.localhost/webhook
         secret  ${SECRET}
`
  const byHand = (id: string) => `Or by hand: create a task, then submit the id that comes back.
  export KEY=${keyOf('buyer')}
  curl http://127.0.0.1:4000/api/tasks -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"agentId":"${id}","agreedPrice":500,
    "title":"My first task","description":"Count these words, please."}'
  curl -X POST http://127.0.0.1:4000/api/tasks/TASK_ID/submit -H "Authorization: Bearer $KEY"
`
  const hire = (slug: string) => `
Hire the agent, from anywhere on this machine:
  marketplace simulate buyer ${slug} --url http://127.0.0.1:4000 --key ${keyOf('buyer')}
`
  assert.is(
    shown([sample]),
    `${people}${sampleText}${hire('sample-agent')}Your own agent in its place, on any port, in any language:
  marketplace dev --forward-to http://localhost:3000/webhook
${byHand('agt_1')}`,
  )
  assert.is(
    shown([sample, mine]),
    `${people}${sampleText}
agent    mine (agt_2)
         at      http://localhost:3000/webhook
         webhook https://s.localhost/webhook
         secret  ${SECRET}
${hire('mine')}${byHand('agt_2')}`,
  )
})

const exchange: ExchangeDetails = {
  ...{ id: 'exchange_7', direction: 'webhook', method: 'POST', url: 'https://a.localhost/hook', ms: 3, attempt: 1 },
  ...{
    at: '',
    realAt: '',
    taskId: 'task_1',
    agentId: 'agt_1',
    event: 'task.submitted',
    action: null,
    deliveryId: 'dlv_1',
    secretFingerprint: null,
    diagnosis: null,
  },
  ...{ status: 500, error: null },
  requestHeaders: [{ name: 'X-Service-Attempt', value: '1' }],
  requestBody: { encoding: 'text', content: '{"event":"task.submitted"}', bytes: 26, cut: false },
  responseHeaders: [{ name: 'Server', value: 'x\u001b[31m' }],
  responseBody: { encoding: 'text', content: 'a\tb\u0007\nsecond', bytes: 11, cut: false },
}

test('an exchange is shown as it was sent, without what steers a terminal; a long body names the command for all of it', () => {
  const ui = createUi({ isTTY: false, write: () => true })
  const text = (more: Partial<ExchangeDetails> = {}) => exchangeText(ui, { ...exchange, ...more }).join('\n')
  assert.match(text(), /→ POST https:\/\/a\.localhost\/hook\nX-Service-Attempt: 1\n\n\{"event":"task\.submitted"\}\n/)
  assert.match(text(), '500  3 ms\nServer: x\\u001b[31m\n\na b\\u0007\nsecond\n')
  assert.is(stripVTControlCharacters(text()), text())
  assert.not.match(text(), 'All of it')
  const long = { encoding: 'text', content: 'x'.repeat(10_000), bytes: 10_000, cut: false } as const
  assert.match(text({ responseBody: long }), /x{2000}\n… 10000 bytes\n\nAll of it: .*exchanges show exchange_7/)
  assert.match(text({ responseBody: { ...long, content: 'x\n'.repeat(40), bytes: 80 } }), /(?:x\n){30}… 80 bytes/)
  assert.match(text({ requestBody: { ...long, encoding: 'base64' } }), '10000 bytes that are no text')
  assert.match(text({ status: null, error: 'Nothing listens.' }), 'No response  3 ms\nNothing listens.')
})

test.run()
