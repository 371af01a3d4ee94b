/** Fails where a file or a function is too long. `--write` takes out exceptions that are not needed, and lowers others. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Excesses, faultsIn, measure, shrunk } from './lengths.ts'

const EXCEPTIONS = 'test/lengths/exceptions.json'

const sources = ['src', 'test', 'bin'].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.(?:ts|js)$/.test(path) && !path.includes('node_modules'))
    .map(path => join(folder, path)),
)
const excepted: Excesses = JSON.parse(readFileSync(EXCEPTIONS, 'utf8'))
const measured = measure(sources)
if (process.argv.includes('--write')) {
  const lines = Object.entries(shrunk(measured, excepted)).map(([path, excess]) => {
    return `  "${path}": ${JSON.stringify(excess).replace(/[{:,]/g, '$& ').replace('}', ' }')}`
  })
  writeFileSync(EXCEPTIONS, `{\n${lines.join(',\n')}\n}\n`)
} else {
  const faults = faultsIn(measured, excepted)
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) {
    console.error(
      `What is no longer too long leaves ${EXCEPTIONS} by \`npm run lengths -- --write\`; nothing is added to it.`,
    )
    process.exitCode = 1
  }
}
