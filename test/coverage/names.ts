/** Every test's name, by file: loads the files with a stand-in for the runner, which runs nothing. */
import { register } from 'node:module'

const stub = `
const named = (name = '') => {
  const add = title => globalThis.testNames.push(name === '' ? title : title)
  return Object.assign(add, { run() {}, before: Object.assign(() => {}, { each() {} }), after: Object.assign(() => {}, { each() {} }), only: add, skip() {} })
}
export const test = named()
export const suite = named
`
const url = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`

register(
  url(
    `export const resolve = (name, context, next) => name === 'uvu' ? { url: ${JSON.stringify(url(stub))}, shortCircuit: true } : next(name, context)`,
  ),
)

const found: Record<string, string[]> = {}
const names = globalThis as unknown as { testNames: string[] }
for (const file of process.argv.slice(2)) {
  names.testNames = found[file] = []
  await import(new URL(`../${file}`, import.meta.url).href)
}
process.stdout.write(`\n${JSON.stringify(found)}\n`, () => process.exit(0))
