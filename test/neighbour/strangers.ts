/**
 * What ten other builders do who know no more than the pages of this marketplace say: slow heads and bodies, long filters, deep
 * pages, herds of readers, hard searches, odd JSON. Within the rate limits of an address, like the attacks of those who know it.
 */
import net from 'node:net'
import type { Attack, Attacks } from './attacks.ts'
import { agentInput } from './population.ts'

const TRICKLE_MS = 400
/** Longer than any server should wait for a head. */
const LONGEST_MS = 60_000

/** A connection on which these bytes are written at once, and then the others one by one. Nothing that comes is read if `isDeaf`. */
function slowly({ me, url }: Pick<Attack, 'me' | 'url'>, first: string, rest = '', isDeaf = false): Promise<void> {
  const socket = net.connect({ host: url.hostname, port: Number(url.port), localAddress: me.address, noDelay: true })
  socket.on('error', () => {})
  if (isDeaf) socket.pause()
  else socket.resume()
  socket.write(first)
  let at = 0
  const timer = setInterval(() => at < rest.length && socket.write(rest[at++]!), TRICKLE_MS)
  const end = setTimeout(() => socket.destroy(), LONGEST_MS)
  return new Promise(resolve =>
    socket.once('close', () => {
      clearInterval(timer)
      clearTimeout(end)
      resolve()
    }),
  )
}

const head = ({ me, url }: Attack, line: string, more = '') =>
  `${line} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${me.key}\r\n${more}`

const slowHead = (attack: Attack) => slowly(attack, head(attack, 'GET /api/tasks'), `x-slow: ${'a'.repeat(10_000)}`)

const slowBody = (attack: Attack, round: number) =>
  slowly(
    attack,
    head(
      attack,
      `POST /api/tasks/${attack.me.taskId}/messages`,
      `content-type: application/json\r\ncontent-length: 9000\r\n${round % 2 ? 'expect: 100-continue\r\n' : ''}\r\n`,
    ),
    `{"content":"${'a'.repeat(9_000)}`,
  )

const cycled = <Item>(items: readonly Item[], round: number) => items[round % items.length]!

function filterAtLength({ caller }: Attack, round: number) {
  const words = Array.from({ length: 1_500 }, (_, n) => `w${(n * 7919 + round).toString(36)}`)
  const paths = [
    `/api/my/deliveries?q=${words.join('%20')}`,
    `/api/tasks?q=${'%25_'.repeat(2_000)}&limit=100`,
    `/api/tasks?status=${words.join(',')}`,
    `/api/my/tasks/counts?q=${'%F0%9F%98%80'.repeat(1_000)}`,
    `/api/my/deliveries/counts?since=2000-01-01T00:00:00.000Z&q=a`,
    `/api/tasks?${Array.from({ length: 2_000 }, (_, n) => `a${n}=`).join('&')}`,
  ]
  return caller.send('GET', cycled(paths, round))
}

const deep = [1_000_000, 9_007_199_254_740_991, 10_000, 500]

const pageFarBehind = ({ caller, me }: Attack, round: number) => {
  const lists = [
    '/api/tasks',
    '/api/wallet/ledger',
    '/api/wallet/transactions',
    '/api/my/deliveries',
    '/api/notifications',
    `/api/tasks/${me.taskId}/messages`,
    `/api/tasks/${me.taskId}/history`,
    `/api/my/agents/${me.agentId}/deliveries`,
  ]
  return caller.send('GET', `${cycled(lists, round)}?limit=100&page=${cycled(deep, round)}`)
}

/** Twenty readers at once, who read nothing. */
const herd = (attack: Attack) =>
  Promise.all(
    Array.from({ length: 20 }, () =>
      slowly(attack, head(attack, `GET /api/agents/${attack.lister.agentId}/samples?limit=100`, '\r\n'), '', true),
    ),
  )

const follow = (attack: Attack) => slowly(attack, head(attack, 'GET /api/stream?follow=true', '\r\n'), '', true)

/** Of one character some make eighteen; of others a thousand belong to one letter. */
const hardWords = [
  'ﷺ'.repeat(300),
  `e${'\u0301'.repeat(600)}`,
  '%_%_%_',
  'a b c d e f g h',
  '(((((a+)+)+)+$',
  '\u0000',
  'İıſK',
]

const searchHard = ({ caller }: Attack, round: number) =>
  caller.send(
    'GET',
    `${round % 3 ? '/api/agents' : '/agents'}?limit=100&sort=${cycled(['popular', 'price_asc', 'newest'], round)}&q=${encodeURIComponent(cycled(hardWords, round))}`,
  )

const odd = [
  '['.repeat(60_000),
  `{"content":${'[{"a":'.repeat(10_000)}`,
  `{${Array.from({ length: 6_000 }, (_, n) => `"k${n}":1`).join()}}`,
  `{"content":"${'\\u0001'.repeat(10_000)}"}`,
  `{"content":${'9'.repeat(60_000)}}`,
  `{${'"content":"a",'.repeat(4_000)}"content":"a"}`,
]

const sendOdd = ({ caller, me }: Attack, round: number) =>
  caller.send('POST', `/api/tasks/${me.taskId}/messages`, cycled(odd, round))

/** Five files, and no end of the form. */
const BOUNDARY = 'another-boundary'
const files = Array.from(
  { length: 5 },
  (_, n) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="files"; filename="${n}.csv"\r\ncontent-type: text/csv\r\n\r\n${'a,b\n'.repeat(100_000)}\r\n`,
).join('')

const leaveUpload = (attack: Attack) =>
  slowly(
    attack,
    head(
      attack,
      `POST /api/agent/tasks/${attack.me.works[0] ?? attack.me.taskId}/deliver`,
      `content-type: multipart/form-data; boundary=${BOUNDARY}\r\ncontent-length: ${files.length + 500}\r\n\r\n${files}`,
    ),
  )

const pagesForPeople = [
  '/',
  '/agents',
  '/console',
  '/docs',
  '/openapi.json',
  '/sitemap.xml',
  '/sign-in',
  '/console/none',
]

const visit = ({ caller, lister }: Attack, round: number) =>
  caller.send('GET', cycled([...pagesForPeople, `/agents/${lister.agentId}`], round), undefined, {
    'accept-encoding': 'gzip, br',
  })

const oddRequests = [
  'GET /api/tasks HTTP/1.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n',
  'CONNECT example.com:443 HTTP/1.1\r\n',
  'OPTIONS * HTTP/1.1\r\n',
  `GET /${'../'.repeat(2_000)} HTTP/1.1\r\n`,
  `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(1_900)}`,
  'POST /api/tasks HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n',
  '\u0016\u0003\u0001\u0002\u0000',
]

const askOddly = (attack: Attack, round: number) =>
  slowly(attack, `${cycled(oddRequests, round)}host: ${attack.url.host}\r\n\r\n`)

/** Agents whose webhooks go to one that never says a word, each at a host of its own, all of them tested by turns. */
const agents = new WeakMap<Attack['caller'], string[]>()

async function testHanging({ caller, me, url }: Attack, round: number) {
  const known = agents.get(caller) ?? []
  agents.set(caller, known)
  if (known.length < 10) {
    const webhookUrl = `https://hang-${me.taskId.slice(-8)}-${round}.example:${url.hash.slice(1)}/`
    const { data } = await caller.send('POST', '/api/my/agents', { ...agentInput(`hanging ${round}`), webhookUrl })
    if (!data) return
    await caller.send('POST', `/api/my/agents/${data.id}/webhook-secret`)
    known.push(data.id)
  }
  return caller.send('POST', `/api/my/agents/${cycled(known, round)}/test-connection`)
}

const writeToMyself = ({ caller, me }: Attack, round: number) =>
  caller.send('POST', `/api/tasks/${me.taskId}/messages`, { content: `${round} ${'ö'.repeat(4_900)}` })

export const strangers: Attacks = {
  slowHeads: [60, slowHead],
  slowBodies: [10, slowBody],
  longFilters: [14, filterAtLength],
  deepPages: [18, pageFarBehind],
  herds: [0.9, herd],
  streams: [4, follow],
  hardSearches: [24, searchHard],
  oddBodies: [10, sendOdd],
  leftUploads: [8, leaveUpload],
  visits: [10, visit],
  oddRequests: [10, askOddly],
  hangingAgents: [12, testHanging],
  ownMessages: [10, writeToMyself],
}
