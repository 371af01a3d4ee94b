/** The shape of a report for programs, of which the JSON Schema is made. Fields may be added; none is taken away or means another thing. */
import * as z from 'zod'
import { verdicts } from '../../src/conform/judging/judge.ts'

const counts = z.object(Object.fromEntries(verdicts.map(verdict => [verdict, z.int().min(0)])))

const reportShape = z.object({
  schema: z.literal('conformance-run/1'),
  version: z.string().describe('of the package'),
  seed: z.int().min(0).describe('gives the same run again'),
  agent: z.object({
    url: z.string().describe('its webhook; empty: that of another builder’s, which is listed'),
    command: z.string().nullable(),
    listed: z
      .object({ marketplace: z.string(), id: z.string(), slug: z.string() })
      .optional()
      .describe('where it was looked at from outside'),
  }),
  startedAt: z.iso.datetime(),
  ms: z.number().min(0).describe('how long the run took'),
  interrupted: z.boolean().describe('the run was ended before its end'),
  limitMs: z
    .number()
    .nullable()
    .describe('the time that the run had, if it was ended because that was over; null: it was not'),
  declared: z.array(z.string()).describe('what was left out because its author has declared so'),
  requirements: z.string().nullable().describe('the set of checks that decides; null: all do'),
  baseline: z
    .array(z.object({ id: z.string(), fault: z.enum(['stale', 'expired', 'unknown']), text: z.string() }))
    .describe('lines of the baseline that are wrong by now'),
  causes: z
    .array(z.object({ id: z.string(), behind: z.array(z.string()) }))
    .describe(
      'what to mend, in this order: a must that is broken, or agent.ended; with ids of the checks that were not judged because of it',
    ),
  checks: z.array(
    z.object({
      id: z.string().describe('for ever the same'),
      title: z.string().describe('what a right agent does'),
      level: z.enum(['must', 'should', 'may']),
      verdict: z.enum(verdicts),
      text: z.string().describe('what was seen, or why nothing was'),
      evidence: z.array(z.int()).describe('numbers of events in the history'),
      byDeclaration: z
        .boolean()
        .describe('untested because its author has declared so, or has declared nothing to try'),
      behind: z.string().nullable().describe('the cause because of which it was not judged, if it is behind one'),
      law: z.object({ source: z.string(), quote: z.string() }),
      why: z.string(),
      fix: z.string(),
      scored: z.boolean().describe('false: it is not in the set of requirements, and decides nothing'),
      excused: z.string().nullable().describe('why the baseline excuses it'),
      ms: z.int().min(0).describe('its share of the time that its scenario took'),
    }),
  ),
  deaths: z
    .array(
      z.object({
        how: z.string().describe('follows “the agent ended”'),
        code: z.int().nullable(),
        signal: z.string().nullable(),
        afterMs: z.number().describe('since the beginning of the run'),
        evidence: z.array(z.int()).describe('numbers of events in the history: what was under way, or had come last'),
        lastWords: z.array(z.string()).describe('to stderr'),
        behind: z.array(z.string()).describe('ids of checks that could not be tried any more'),
      }),
    )
    .describe('where the agent, started for the run, has ended by itself'),
  bought: z
    .object({
      limit: z.int().min(0).describe('in cents: what was allowed'),
      spent: z.int().min(0),
      held: z.int().min(0).describe('of tasks that are still open'),
      tasks: z.array(z.object({ id: z.string(), label: z.string(), price: z.int(), status: z.string() })),
    })
    .nullable()
    .describe('the tasks that were bought from an agent that is listed'),
  summary: counts.extend({
    total: z.int().min(0),
    levels: z.object({ must: counts, should: counts, may: counts }),
  }),
})

export const reportSchema = () => z.toJSONSchema(reportShape, { io: 'input' })
