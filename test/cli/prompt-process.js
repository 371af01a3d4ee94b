/**
 * Runs commands of the built program one after another on its terminal, and says how each ended and how it left the terminal:
 * starting a process for each would cost ten times as much.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { main } = await import('../../dist/bundle/main.js')

/** How the terminal is set, as only it tells. */
const setting = () => execFileSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'inherit'] }).toString()

const before = setting()
for (const [at, words] of JSON.parse(readFileSync(process.argv[2], 'utf8')).entries()) {
  const code = await main(words)
  process.stderr.write(`[${at}: ${code}, the terminal is ${setting() === before ? 'as before' : 'another'}]\n`)
}
process.exit()
