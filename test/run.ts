/** Runs every test file in a process of its own, two at a time, and adds up what they say. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const fileTimeoutMs = 180_000
const wanted = process.argv.slice(2)
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.test.ts') && (wanted.length === 0 || wanted.some(part => file.includes(part))))
  .sort()

interface Outcome {
  file: string
  passed: number
  failed: number
  output: string
  ms: number
}

const count = (output: string, word: string) =>
  Number(output.match(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'm'))?.[1] ?? 0)

function run(file: string): Promise<Outcome> {
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', 'tsx', `test/${file}`], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (output += chunk))
  const deadline = setTimeout(() => {
    output += `\nended after ${fileTimeoutMs} ms\n`
    child.kill('SIGKILL')
  }, fileTimeoutMs)
  return new Promise(resolve => {
    child.on('close', code => {
      clearTimeout(deadline)
      // uvu colours its totals only on a terminal; a file that forgets `.run()` says nothing at all.
      const total = count(output, 'Total')
      const passed = count(output, 'Passed')
      const skipped = count(output, 'Skipped')
      let failed = total - passed
      if (total === 0) output += `\n${file} ran no test\n`
      if (skipped > 0) output += `\n${file} skipped ${skipped}\n`
      if (failed === 0 && (code !== 0 || total === 0 || skipped > 0)) failed = 1
      resolve({ file, passed, failed, output, ms: Math.round(performance.now() - started) })
    })
  })
}

const queue = [...files]
const outcomes: Outcome[] = []
const worker = async () => {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const outcome = await run(file)
    outcomes.push(outcome)
    const { passed, failed, ms } = outcome
    console.log(`${failed ? 'FAIL' : 'ok  '} ${file}  ${passed} passed${failed ? `, ${failed} failed` : ''}  ${ms} ms`)
    if (failed) console.log(outcome.output)
  }
}
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))

const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
