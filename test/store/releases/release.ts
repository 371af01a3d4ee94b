/** Databases as releases have left them: one folder for each version, written by `npm run databases`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const FOLDER = 'test/store/releases'
/** Seals the secrets of these databases. It protects nothing. */
export const secretKey = Buffer.alloc(32, 'a database of a release').toString('base64')

/** What is known of a database without reading it. */
export interface About {
  version: string
  /** Hashes of its migrations, by number and name. */
  migrations: Readonly<Record<string, string>>
  /** Where its clock has ended, in ms since 1970. */
  endedAt: number
  buyer: { id: string; email: string; password: string }
  agent: { id: string; url: string; secret: string }
  /** Ids of tasks, by state. */
  tasks: Readonly<Record<string, string>>
  /** In cents, by kind. */
  balances: Readonly<Record<string, number>>
}

export interface Release extends About {
  folder: string
}

/** Oldest first. */
export const releases = (): Release[] =>
  readdirSync(FOLDER, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => join(FOLDER, name))
    .map(folder => ({ folder, ...(JSON.parse(readFileSync(join(folder, 'about.json'), 'utf8')) as About) }))
    .toSorted((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }))
