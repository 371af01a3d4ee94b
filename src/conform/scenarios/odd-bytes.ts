/** Tasks whose texts are odd and allowed, and webhooks that spell the same JSON in another way. */
import { limits } from '../../api/limits.ts'
import { dresses } from '../../sim/webhooks/unusual.ts'
import { dressedAs } from '../marketplaces/webhook-faults.ts'
import type { Scenario, Stage, WantedTask } from './scenario.ts'

const dressNamed = (wanted: string) => dresses.find(({ name }) => name === wanted)!

/** How the webhook is written, by the check that is about it. */
const spellings: Readonly<Record<string, string>> = {
  'bytes.key-order': 'key-order',
  'bytes.spaces': 'whitespace',
  'bytes.escapes': 'escapes',
  'bytes.numbers': 'numbers',
  'bytes.charset': 'charset',
}

/** What the buyer writes. */
const texts: Readonly<Record<string, string>> = {
  'bytes.astral': 'astral',
  'bytes.line-separators': 'line-separators',
  'bytes.control': 'control',
  'bytes.direction': 'direction',
  'bytes.markup': 'markup',
}

export const oddBytes: Scenario = {
  name: 'odd bytes',
  lane: 'real',
  needs: ['accepted'],
  async run(stage) {
    const wanted: Record<string, WantedTask> = {
      'bytes.no-requirements': { requirements: '', decisionIsAll: true },
      'bytes.largest': longest(stage),
      'bytes.largest-escaped': { ...longest(stage), fault: dressedAs(dressNamed('escapes')), decisionIsAll: true },
    }
    for (const [id, name] of Object.entries(spellings))
      wanted[id] = { fault: dressedAs(dressNamed(name)), decisionIsAll: true }
    for (const [id, name] of Object.entries(texts)) wanted[id] = withTexts(stage, name)
    await Promise.all(Object.entries(wanted).map(async ([id, about]) => stage.worked(await stage.task(id, about))))
  },
}

/** The odd texts stand behind those of the sample, as an agent may take such tasks alone. */
function withTexts({ declared: { sample } }: Stage, name: string): WantedTask {
  const { data } = JSON.parse(dressNamed(name).dress({ event: '', timestamp: '', data: {} }).body)
  const { title = '', description = '' } = data as Record<'title' | 'description', string | undefined>
  return {
    title: cut(`${sample.title} ${title}`.trim(), limits.task.title[1]),
    description: `${sample.description}\n${description}`,
  }
}

/** Room for the word that each task has for itself. */
const CANARY = 20

const longest = ({ declared: { sample } }: Stage): WantedTask => ({
  title: filled(sample.title, limits.task.title[1]),
  description: filled(sample.description, limits.task.description[1] - CANARY),
  requirements: filled(sample.requirements, limits.task.requirements[1]),
})

const filled = (text: string, length: number) => cut(`${text} ${'😀'.repeat(length)}`, length)

/** Limits count code points. */
const cut = (text: string, length: number) => [...text].slice(0, length).join('')
