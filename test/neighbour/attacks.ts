/**
 * What ten hostile builders do, each from one address and within the rate limits of an address: all of it at once, each
 * attack at a pace of its own. An attack answers nothing; it goes on until it is stopped.
 */
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Caller } from './caller.ts'
import { agentInput, PASSWORD, type Resident } from './population.ts'

export interface Attack {
  caller: Caller
  me: Resident
  /** The account with long lists, which comes from all ten addresses. */
  lister: Resident
  /** Everybody else, whose addresses of mail are guessed. */
  victims: readonly string[]
  url: URL
  /** Counts what came of each attempt. */
  note: (what: string) => void
}

type Step = (attack: Attack, round: number) => Promise<unknown>

/** By name: times a minute, what is done each time, and how often where nothing else is. */
export type Attacks = Readonly<Record<string, readonly [perMinute: number, step: Step, alone?: number]>>

/** From now on the events of my task go to a host that takes connections and never answers. */
const aimAtTarpit = ({ caller, me, url }: Attack) =>
  caller.send('PUT', `/api/my/agents/${me.agentId}`, {
    webhookUrl: `https://tarpit-${me.taskId.replace('_', '-')}.example:${url.hash.slice(1)}/`,
  })

const drafts = new WeakMap<Caller, string[]>()

async function testSilentName(attack: Attack, round: number) {
  const { caller } = attack
  const known = drafts.get(caller) ?? []
  drafts.set(caller, known)
  if (known.length < 12) {
    const webhookUrl = `https://silent-${Math.random().toString(36).slice(2)}.example/`
    const { data } = await caller.send('POST', '/api/my/agents', { ...agentInput(`slow ${round}`), webhookUrl })
    if (!data) return
    await caller.send('POST', `/api/my/agents/${data.id}/webhook-secret`)
    known.push(data.id)
  }
  return caller.send('POST', `/api/my/agents/${known[round % known.length]}/test-connection`)
}

/** The largest answers there are, three on a connection, and nothing of them is read. */
function askAndNeverRead({ me, url }: Attack): Promise<void> {
  const socket = net.connect({ host: url.hostname, port: Number(url.port), localAddress: me.address })
  socket.pause().on('error', () => {})
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${me.key}\r\n\r\n`
  socket.write(ask('/openapi.json') + ask(`/api/tasks/${me.taskId}/messages?limit=100`) + ask('/api/agents?limit=100'))
  return new Promise(resolve => socket.once('close', () => resolve()))
}

const BOUNDARY = 'a-boundary'
const multipart = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const partOf = (name: string, type: string) =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name=${name}\r\ncontent-type: ${type}\r\n\r\n`
const filePart = Buffer.from(
  `${partOf('"content"', 'text/plain')}The file.\r\n${partOf('"files"; filename="a.csv"', 'text/csv')}`,
)
const file = Buffer.concat([filePart, Buffer.alloc(5_000_000, 'a'), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)])
const emptyPart = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n`
const emptyParts = Buffer.from(emptyPart.repeat(Math.ceil(10_000_000 / emptyPart.length)))

const uploadToNowhere = ({ caller }: Attack) =>
  caller.send('POST', '/api/agent/tasks/task_00000000000000000000000000/deliver', file, multipart)

/** A whole file for a task that takes it, and then its revision is asked for. */
async function deliverFile({ caller, me }: Attack) {
  const [task] = me.works
  if (task === undefined) return
  const answer = await caller.send('POST', `/api/agent/tasks/${task}/deliver`, file, multipart)
  const { status } = await caller.send('POST', `/api/tasks/${task}/request-revision`, { reason: 'Once more.' })
  if (answer.status === 200 && status >= 300) me.works.shift()
  return answer
}

const uploadEmptyParts = ({ caller, me }: Attack) =>
  caller.send('POST', `/api/agent/tasks/${me.taskId}/deliver`, emptyParts, multipart)

const headOfUpload = ({ me, url }: Pick<Attack, 'me' | 'url'>, length: number) =>
  `POST /api/agent/tasks/${me.taskId}/deliver HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${me.key}\r\n` +
  `content-type: ${multipart['content-type']}\r\ncontent-length: ${length}\r\n\r\n`

/** Half a file, then the connection is closed. */
function breakUpload({ me, url }: Attack): Promise<void> {
  const socket = net.connect({ host: url.hostname, port: Number(url.port), localAddress: me.address })
  socket.on('error', () => {}).resume()
  socket.write(headOfUpload({ me, url }, file.length))
  socket.write(file.subarray(0, 1_000_000), () => socket.destroy())
  return new Promise(resolve => socket.once('close', () => resolve()))
}

/** A file whose end never comes: just fast enough that its pace is no reason to cut it off. */
function uploadForever({ me, url }: Attack): Promise<void> {
  const socket = net.connect({ host: url.hostname, port: Number(url.port), localAddress: me.address })
  socket.on('error', () => {}).resume()
  socket.write(headOfUpload({ me, url }, 50_000_000))
  socket.write(file.subarray(0, 1_000_000))
  const more = setInterval(() => socket.write(file.subarray(1_000_000, 1_020_000)), 1_000)
  return new Promise(resolve =>
    socket.once('close', () => {
      clearInterval(more)
      resolve()
    }),
  )
}

function draftFullOfWords({ caller }: Attack, round: number) {
  let description = ''
  while (description.length < 4_900) description += `a${Math.random().toString(36).slice(2, 4)} `
  return caller.send('POST', '/api/my/agents', agentInput(`wordy ${round}`, description))
}

const searchBroadly = ({ caller }: Attack, round: number) =>
  caller.send('GET', `/api/agents?q=${'abcdefghij'[round % 10]}&limit=100&page=${1 + (round % 7)}`)

const wrongItems = `{"allowedCategories":[${'0,'.repeat(500_000)}0]}`

/** Without a credential every other time. */
function sendWrongItems({ me, url }: Attack, round: number) {
  const stranger = new Caller(url.origin, me.address)
  if (round % 2) stranger.credential = { authorization: `Bearer ${me.key}` }
  return stranger.send('POST', '/api/budget-authorizations', wrongItems).finally(() => stranger.close())
}

const sendLongMessage = ({ caller, me }: Attack, round: number) =>
  caller.send(
    'POST',
    `/api/tasks/${me.taskId}/messages`,
    { content: `${round} ${'\u0001'.repeat(4_900)}` },
    {
      'idempotency-key': `${me.address} ${round}`,
    },
  )

const guessPassword = ({ caller, me, victims }: Attack, round: number) => {
  const email = round % 2 ? me.email : victims[round % victims.length]!
  return caller.send('POST', '/api/auth/login', { email, password: `${PASSWORD} ${round}` })
}

const askForReset = ({ caller, victims }: Attack, round: number) =>
  caller.send('POST', '/api/auth/password-reset', { email: victims[round % victims.length]! })

/** The longest list that there is, of one account from ten addresses. */
const askForLongList = ({ me, lister, url }: Attack) => {
  const caller = new Caller(url.origin, me.address)
  caller.credential = { authorization: `Bearer ${lister.key}` }
  return caller.send('GET', '/api/tasks?limit=100').finally(() => caller.close())
}

/** As many requests as a minute allows, in one packet, the most without an account. */
function packRequests({ me, lister, url }: Attack, round: number): Promise<void> {
  const paths = [`/api/agents/${lister.agentId}/samples`, '/api/categories', '/api/tasks?limit=100']
  const path = paths[round % paths.length]
  const request = `HEAD ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${lister.key}\r\n\r\n`
  const packet = (round % 3 === 2 ? request : request.replace(/authorization: .*\r\n/, '')).repeat(90)
  const socket = net.connect({ host: url.hostname, port: Number(url.port), localAddress: me.address, noDelay: true })
  let answers = 0
  socket
    .on('error', () => {})
    .on('data', chunk => {
      answers += String(chunk).split('HTTP/1.1 ').length - 1
      if (answers >= 90) socket.destroy()
    })
  socket.write(packet)
  return new Promise(resolve => socket.once('close', () => resolve()))
}

/** The general limit is 100 a minute; some attacks have one of their own. */
export const attacks: Attacks = {
  slowNames: [30, testSilentName],
  slowReaders: [12, askAndNeverRead],
  uploadsToNowhere: [7, uploadToNowhere],
  deliveries: [2, deliverFile, 15],
  brokenUploads: [3, breakUpload],
  endlessUploads: [3, uploadForever],
  emptyParts: [6, uploadEmptyParts],
  wordyDrafts: [24, draftFullOfWords],
  broadSearches: [28, searchBroadly],
  wrongItems: [12, sendWrongItems],
  messageFlood: [30, sendLongMessage],
  wrongPasswords: [5, guessPassword],
  resets: [0.05, askForReset],
  longLists: [10, askForLongList, 95],
  packets: [0.2, packRequests, 1.05],
}

/** Goes on until its process ends. */
export async function attackAll(attack: Attack, all: Attacks, only = Object.keys(all)): Promise<void> {
  await aimAtTarpit(attack)
  await Promise.all(
    only.map(async name => {
      const [among, step, alone = among] = all[name]!
      const perMinute = only.length === 1 ? alone : among
      // Each starts somewhere in its first interval, or all of them would strike together.
      await wait(Math.random() * Math.min(60_000 / perMinute, 2_000))
      for (let round = 0; ; round++) {
        void step(attack, round).then(
          answer => attack.note(`${name} ${(answer as { status?: number } | undefined)?.status ?? 'done'}`),
          () => attack.note(`${name} cut off`),
        )
        await wait(60_000 / perMinute)
      }
    }),
  )
}
