/** Webhooks on connections and in pieces as HTTP allows them, and as other senders or a proxy would use them. */

import { dresses } from '../../sim/webhooks/unusual.ts'
import { Connection } from '../marketplaces/odd-requests.ts'
import { dressedAs, type OutgoingWebhook, type Sent } from '../marketplaces/webhook-faults.ts'
import { takenCancellation } from './every-event.ts'
import { byHand, untilHeard } from './hand-sent-webhooks.ts'
import type { Scenario, Stage } from './scenario.ts'

const IN_A_ROW = 10
const AFTER_CLOSE_MS = 50

export const connections: Scenario = {
  name: 'connections',
  lane: 'real',
  async run(stage) {
    // Cancelled tasks that it has never heard of give the agent nothing to do.
    const row = await Promise.all(
      Array.from({ length: IN_A_ROW }, () => takenCancellation(stage, 'http.one-connection')),
    )
    await onOneConnection(stage, 'http.one-connection', row)
    for (let time = 0; time < 2; time++) {
      const { task, webhook } = await stage.taken('http.fresh-connection', { decisionIsAll: true })
      await onOneConnection(stage, 'http.fresh-connection', [webhook])
      await stage.worked(task)
      await stage.pause(AFTER_CLOSE_MS)
    }
  },
}

async function onOneConnection(stage: Stage, label: string, webhooks: readonly OutgoingWebhook[]): Promise<void> {
  const connection = new Connection()
  try {
    for (const webhook of webhooks)
      await byHand(stage, label, webhook, { change: 'on a connection of ours', connection })
  } finally {
    connection.close()
  }
}

export const framing: Scenario = {
  name: 'framing',
  lane: 'real',
  async run(stage) {
    await Promise.all([
      chunked(stage),
      cutWithinLetter(stage),
      twoAtOnce(stage),
      onlyLawHeaders(stage),
      additions(stage),
      withoutAnEvent(stage),
    ])
  },
}

async function chunked(stage: Stage): Promise<void> {
  const { task, webhook } = await stage.taken('http.chunked', { decisionIsAll: true })
  await byHand(stage, task.label, webhook, { change: 'in three chunks', chunked: true, pieces: 3, pauseMs: 400 })
  await stage.worked(task)
}

const LETTERS = '漢字 '.repeat(4)
const INTO_A_LETTER = 2

/** Networks cut what is sent anywhere, also within the bytes of a letter. Of several cuts a busy agent sees one at least. */
async function cutWithinLetter(stage: Stage): Promise<void> {
  const { description } = stage.declared.sample
  const { task, webhook } = await stage.taken('bytes.cut-letter', {
    description: `${description}\n${LETTERS}`,
    decisionIsAll: true,
  })
  const cutsAt = [...webhook.body.matchAll(/字/g)].map(
    ({ index }) => Buffer.byteLength(webhook.body.slice(0, index)) + INTO_A_LETTER,
  )
  await byHand(stage, task.label, webhook, { change: 'cut within letters', cutsAt, pauseMs: 100 })
  await stage.worked(task)
}

/** The second begins before the first is complete. */
async function twoAtOnce(stage: Stage): Promise<void> {
  const label = 'http.two-at-once'
  const spared = { decisionIsAll: true }
  const both = await Promise.all([stage.taken(label, spared), stage.taken(label, spared)])
  const how = { change: 'beside another', pieces: 2, pauseMs: 100 }
  await Promise.all(both.map(({ webhook }) => byHand(stage, label, webhook, how)))
  await Promise.all(both.map(({ task }) => stage.worked(task)))
}

/** An agent reads either set of signature headers: the other, and all else that comes with it, is not promised. */
async function onlyLawHeaders(stage: Stage): Promise<void> {
  const sets = {
    interface: /^(content-type|x-service-signature|x-service-timestamp)$/i,
    standard: /^(content-type|webhook-.*)$/i,
  }
  for (const [name, kept] of Object.entries(sets)) {
    const { task, webhook } = await stage.taken(`http.only-law-headers/${name}`, { decisionIsAll: true })
    const headersOf = ({ headers }: OutgoingWebhook) => Object.entries(headers).filter(([header]) => kept.test(header))
    const how = { change: 'without other headers', headersOf, timeoutMs: stage.patience.limit('answer') }
    const taken = await byHand(stage, task.label, webhook, how)
    if (taken) await stage.worked(task)
  }
}

const MORE_HEADERS = Array.from({ length: 10 }, (_, at) => [`X-Passed-By-${at}`, 'proxy '.repeat(100).trim()] as const)

async function additions(stage: Stage): Promise<void> {
  const { task, webhook } = await stage.taken('http.extra-headers', { decisionIsAll: true })
  const headersOf = ({ headers }: OutgoingWebhook) => [...Object.entries(headers), ...MORE_HEADERS]
  await byHand(stage, task.label, webhook, { change: 'with more headers', headersOf })
  const fault = dressedAs(dresses.find(({ name }) => name === 'unknown-field')!)
  await Promise.all([
    stage.worked(task),
    stage.task('http.extra-fields', { fault, decisionIsAll: true }).then(task => stage.worked(task)),
  ])
}

/** What the agent has not to do anything about. */
async function withoutAnEvent(stage: Stage): Promise<void> {
  const { task, webhook } = await stage.taken('http.unknown-event')
  const body = webhook.body.replace('"task.submitted"', '"task.archived"')
  await byHand(stage, task.label, { ...webhook, body }, { change: 'an event of a later version' })
  await Promise.all(['GET', 'HEAD', 'PUT'].map(method => otherMethod(stage, webhook, method)))
}

async function otherMethod(stage: Stage, webhook: OutgoingWebhook, method: string): Promise<void> {
  const plain = { ...webhook, body: method === 'PUT' ? '{}' : '' }
  const sent: Sent = { change: method, genuine: false }
  const how = { method, headers: [], timeoutMs: stage.patience.limit('answer') }
  await untilHeard(stage, () => stage.lane.webhooks.sendByHand(plain, sent, `http.get-harmless/${method}`, how))
}

/** The agent is told to reach other hosts by a proxy of ours, which shows whom it calls. */
const proxied: Scenario = {
  name: 'proxied',
  lane: 'real',
  when: 'alone',
  needs: ['start', 'accepted'],
  async run(stage) {
    const { agent, lane } = stage
    const { environment } = agent
    const proxy = {
      HTTP_PROXY: lane.otherHost.url,
      HTTPS_PROXY: lane.otherHost.url,
      NO_PROXY: '127.0.0.1,localhost,::1',
    }
    const small = Object.fromEntries(Object.entries(proxy).map(([name, value]) => [name.toLowerCase(), value]))
    agent.environment = { ...environment, ...proxy, ...small, NODE_USE_ENV_PROXY: '1' }
    await agent.restart()
    const task = await stage.task('safe.no-foreign-host')
    await stage.worked(task)
    agent.environment = environment
    await agent.restart()
  },
}

export const proxyScenarios: readonly Scenario[] = [proxied]
