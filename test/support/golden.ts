/** Texts that are compared to the letter with what is kept in a file. `npm run goldens` writes them all anew. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'

export const isWriting = process.env.GOLDENS === 'write'

/** `compared`: what of both is compared, where a machine may differ; the whole unless given. */
export function sameAsKept(path: string, now: string, compared: (text: string) => string = text => text): void {
  if (isWriting) writeFileSync(path, now)
  assert.ok(existsSync(path), `npm run goldens writes ${path}`)
  assert.fixture(compared(now), compared(readFileSync(path, 'utf8')))
}
