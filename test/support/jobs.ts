/** Which test files there are, and how each runs. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Job {
  file: string
  engine: 'embedded' | 'postgres'
  /** Its process may have run other files, and run more. */
  shares: boolean
}

/** Touches what a process has once, or looks at how passwords are kept. */
const OWN = /\bprocess\.on\b|\bglobalThis\b|\bhashPassword\b/

const ONLY_EMBEDDED = ['embedded'] as const
const ONLY_POSTGRES = ['postgres'] as const
const BOTH = ['embedded', 'postgres'] as const

export function jobsOf(isWanted: (file: string) => boolean): Job[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts') && isWanted(file))
    .sort()
  const all = files.flatMap((file): Job[] => {
    const text = readFileSync(`test/${file}`, 'utf8')
    const shares = /^(?:api|client|market|sim|web)\b/.test(file) && !OWN.test(text)
    const onlyShared = /\b(openInstances|fleetRounds|capsUnderKills|freshDatabase|startStoppable)\b/.test(text)
    const engines = onlyShared ? ONLY_POSTGRES : /\b(openHouse|openStage|testRows)\b/.test(text) ? BOTH : ONLY_EMBEDDED
    return engines.map(engine => ({ file, engine, shares }))
  })
  // What has a process of its own is what takes longest.
  return all.sort((a, b) => Number(a.shares) - Number(b.shares) || a.engine.localeCompare(b.engine))
}
