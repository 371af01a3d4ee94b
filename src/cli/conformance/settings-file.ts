/** `conformance.yaml`: what the author says of an agent that not every task suits. None of it makes a bug right. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { limits } from '../../api/limits.ts'
import { type Declared, nothingDeclared, type Sample } from '../../conform/agent/declared.ts'
import { UsageError } from '../../settings/config.ts'
import { diskReason } from '../output/disk-faults.ts'
import { durationGiven } from '../output/numbers.ts'

const SETTINGS_FILE = 'conformance.yaml'
const { patience: usual } = nothingDeclared

const duration = z.string().transform((text, ctx) => {
  try {
    return durationGiven(text)
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: (error as Error).message })
    return z.NEVER
  }
})

const { title, description, requirements } = limits.task

const sample = z.strictObject({
  title: z.string().min(title[0]).max(title[1]),
  /** Text, or a file beside this one. */
  description: z.union([z.string().min(description[0]).max(description[1]), z.strictObject({ file: z.string() })]),
  requirements: z.string().max(requirements[1]).default(''),
  price: z.int().min(limits.price.min).max(limits.price.max).default(500),
})

const shape = z.strictObject({
  requirements: z.string().optional(),
  start: z.string().optional(),
  url: z.string().optional(),
  timeout: duration.optional(),
  patience: z.strictObject({ answer: duration, work: duration, quiet: duration }).partial().default({}),
  accepts: z.array(sample).max(20).default([]),
  rejects: z.array(sample).max(20).default([]),
  revisions: z.boolean().default(true),
  messages: z.enum(['replies', 'silent']).optional(),
  hires: z.boolean().default(false),
  work: z.enum(['manual', 'automatic']).default('automatic'),
  vary: z.boolean().default(true),
})

export interface ConformanceSettings {
  readonly declared: Declared
  readonly start: string | undefined
  readonly url: string | undefined
  readonly requirements: string | undefined
  /** Of a whole run, in ms. */
  readonly timeout: number | undefined
}

/** Reads the file that is named, or the usual one if it is there. Throws a UsageError that says where it is wrong. */
export function settingsIn(named: string | undefined): ConformanceSettings {
  const path = named ?? SETTINGS_FILE
  const text = textOf(path, named !== undefined)
  const given = shape.safeParse(text === null ? {} : objectIn(text, path))
  if (!given.success) {
    const [{ path: at, message }] = given.error.issues as [z.core.$ZodIssue]
    throw new UsageError(`${path}: ${at.length > 0 ? `${at.join('.')}: ` : ''}${message}.`.replace(/\.\.$/, '.'))
  }
  const { start, url, requirements, timeout, patience, accepts, rejects, messages, ...rest } = given.data
  const read = (kind: Sample['kind']) => (one: z.infer<typeof sample>) => sampleOf(one, kind, path)
  const taken = accepts.map(read('accepts'))
  return {
    ...{ start, url, requirements, timeout },
    declared: {
      ...rest,
      patience: { ...usual, ...known(patience) },
      accepts: taken,
      rejects: rejects.map(read('rejects')),
      messages: messages ?? null,
      sample: taken[0] ?? nothingDeclared.sample,
    },
  }
}

function sampleOf({ description: given, ...rest }: z.infer<typeof sample>, kind: Sample['kind'], path: string): Sample {
  if (typeof given === 'string') return { ...rest, kind, description: given }
  const file = join(dirname(path), given.file)
  const text = textOf(file, true)!
  if (text.length < description[0] || text.length > description[1])
    throw new UsageError(`${file}: a description has ${description[0]} to ${description[1]} characters.`)
  return { ...rest, kind, description: text }
}

function textOf(path: string, mustBe: boolean): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !mustBe) return null
    throw new UsageError(`${path} can't be read: ${diskReason(error as Error)}.`)
  }
}

function objectIn(text: string, path: string): unknown {
  try {
    return parse(text) ?? {}
  } catch (error) {
    throw new UsageError(`${path} is no YAML: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** Without what is undefined. */
const known = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]: Exclude<Values[Name], undefined>
  }
