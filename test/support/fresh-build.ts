/** Tests of the command line start the built program: one that is older than `src` would pass, or fail, for what is no longer written there. */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

interface Dated {
  path: string
  at: number
}

/** The file that was written last, in any folder below; undefined if there is none. */
function newest(folder: string): Dated | undefined {
  let last: Dated | undefined
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const at = statSync(path).mtimeMs
    if (!last || at > last.at) last = { path, at }
  }
  return last
}

/** The source that is younger than everything that was built; undefined if the build is up to date. */
export function staleSource(source: string, built: string): string | undefined {
  const from = newest(source)
  let made: Dated | undefined
  try {
    made = newest(built)
  } catch {
    // nothing was built yet
  }
  return from && (!made || made.at < from.at) ? from.path : undefined
}

/** Builds the program if `src` is younger. */
export function buildIfStale(): void {
  const stale = staleSource('src', 'dist/bundle')
  if (stale === undefined) return
  console.log(`${stale} is younger than the built program: building it.`)
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' })
}
