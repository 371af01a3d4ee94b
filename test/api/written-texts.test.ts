// engines: embedded; process: shared
/** A text that a request gives counts in the quota of its account: its column is `written()`. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type * as z from 'zod'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { agents } from '../../src/store/tables/agents/agents.ts'
import { samples } from '../../src/store/tables/agents/samples.ts'
import type { Column } from '../../src/store/tables/table.ts'
import { messages, reviews } from '../../src/store/tables/tasks/conversation.ts'
import { deliverables } from '../../src/store/tables/tasks/deliverables.ts'
import { tasks } from '../../src/store/tables/tasks/tasks.ts'
import { sameNames } from '../support/same-names.ts'

const { createAgent, updateAgent, createTask, updateTask, addSample, deliverTask, sendMessage, submitReview } =
  endpoints

interface TextTable {
  readonly name: string
  readonly columns: Readonly<Record<string, Column>>
  readonly written: readonly string[]
}

const written: [table: TextTable, ...bodies: z.ZodObject[]][] = [
  [agents, createAgent.body, updateAgent.body],
  [tasks, createTask.body, updateTask.body],
  [samples, addSample.body],
  [deliverables, deliverTask.body],
  [messages, sendMessage.body],
  [reviews, submitReview.body],
]

/** A URL is a text as well. Ids are texts that the marketplace has made. */
const texts = [0, 20, 40, 60, 400].map(length => `https://x.example/${'a'.repeat(length)}`)
const isText = (name: string, field: z.ZodType) =>
  !/Ids?$/.test(name) && texts.some(text => [text, [text]].some(value => field.safeParse(value).success))

for (const [table, ...bodies] of written) {
  test(`texts of ${table.name}`, () => {
    const given = bodies.flatMap(({ shape }) =>
      Object.entries(shape).filter(([name, field]) => name in table.columns && isText(name, field as z.ZodType)),
    )
    sameNames(table.written, new Set(given.map(([name]) => name)))
    assert.ok(table.written.length > 0)
  })
}

test.run()
