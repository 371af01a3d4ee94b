/** A deployment of a test's own, whose administrator is root@example.com. */
import * as assert from 'uvu/assert'
import { run, start } from './program.ts'

const ADMIN = { MARKETPLACE_ADMIN_EMAIL: 'root@example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }

export async function startServe(folder: string, more: readonly string[] = []) {
  const args = ['serve', '--port', '0', '--json', '--rate-limits', 'off', ...more]
  const { child, ended, firstLine } = start(args, folder, ADMIN)
  const { url } = JSON.parse(await firstLine) as { url: string }
  const stop = async () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, stop }
}

/** From the command line. */
export const signIn = (folder: string, url: string, password = 'correct horse') =>
  run(['login', '--url', url, '--email', 'root@example.com', '--password-stdin', '--json'], folder, {}, `${password}\n`)

/** The one line that says why a start was refused; the log of what went before may follow it. */
export function refusalIn(out: string): string {
  const lines: { type: string; message: string }[] = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const errors = lines.filter(({ type }) => type === 'error')
  assert.is(errors.length, 1, out)
  return errors[0]!.message
}
