/** Compares the delivered files that a database names with a folder. */
import type { Dirent } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptFile } from '../../api/file-kinds.ts'
import { addName, noNames, type SomeNames } from '../../shared/some-names.ts'

export interface Comparison {
  /** How many files the rows name. */
  named: number
  missing: SomeNames
  /** Another size than the row says. */
  otherSize: SomeNames
  /** In the folder, and named by no row. */
  leftOver: SomeNames
}

/** `others`: files that are there for a reason, such as uploads that belong to no deliverable yet. */
export async function compareFiles(
  folder: string,
  files: AsyncIterable<KeptFile>,
  others: ReadonlySet<string>,
): Promise<Comparison> {
  const [missing, otherSize, leftOver] = [noNames(), noNames(), noNames()]
  const known = new Set(others)
  let named = 0
  for await (const { id, size } of files) {
    named++
    known.add(id)
    const found = await stat(join(folder, id)).catch(whatIsMissing)
    if (!found?.isFile()) addName(missing, id)
    else if (found.size !== size) addName(otherSize, id)
  }
  for await (const { name } of filesOf(folder)) if (!known.has(name)) addName(leftOver, name)
  return { named, missing, otherSize, leftOver }
}

/** Files that identify the folder are of no deliverable, and uploads arrive in a folder within. */
async function* filesOf(folder: string): AsyncGenerator<Dirent> {
  const entries = await opendir(folder).catch(whatIsMissing)
  if (entries) for await (const entry of entries) if (entry.isFile() && !entry.name.startsWith('folder.')) yield entry
}

/** What can't be looked at is not taken for missing. */
function whatIsMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
