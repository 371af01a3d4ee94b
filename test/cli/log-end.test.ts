// engines: embedded; process: shared
/** The last line of a log is the reason why its process ended. Source: A-3. */
import { execFileSync } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, urlOf } from '../support/child-code.ts'
import { PATIENCE_MS } from '../support/patience.ts'

const LOG = urlOf('src/cli/log/deployment-log.ts')

const SCRIPT = `
const { deploymentLog } = await import('${LOG}')
const journal = deploymentLog(1)
journal.open()
const { pbkdf2 } = await import('node:crypto')
pbkdf2('p', 's', 100_000, 32, 'sha512', () => {})
journal.log({ type: 'info', message: 'first' })
journal.log({ type: 'error', message: 'the reason' })
void journal.end().then(() => process.exit(1))
journal.log({ type: 'info', message: 'after it' })
`

test('lines that still wait for a thread come before the reason, and nothing comes after it', () => {
  const args = [...loader, '--input-type=module', '-e', SCRIPT]
  // One thread, which is busy when the first line is to be written.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }
  let said = ''
  try {
    execFileSync(process.execPath, args, { env, timeout: PATIENCE_MS })
  } catch (error) {
    said = String((error as { stdout: Buffer }).stdout)
  }
  const lines = said.trim().split('\n')
  assert.equal(
    lines.map(line => JSON.parse(line).message),
    ['first', 'the reason'],
  )
})

test.run()
