#!/usr/bin/env node
// What is built asks for Node's modules by it, and 22.3 is the first 22 that has it.
if (!process.getBuiltinModule) {
  console.error(`marketplace needs Node 20.19, 22.3 or later, and this is ${process.version}.`)
  process.exit(1)
}
// Stacks that name the lines of src cost some 5 % of a start: a server pays for them, and whoever looks for a fault. Source: A-225.
if (process.argv[2] === 'serve' || process.env.MARKETPLACE_DEBUG) process.setSourceMapsEnabled(true)
// A tabulator waits for the first.
const { main } = await (process.argv[2] === 'completion-ids'
  ? import('../dist/bundle/ids.js')
  : import('../dist/bundle/main.js').catch(unbuilt))

process.exitCode = await main(process.argv.slice(2))

/** In a clone that nobody has built, as after `npm ci --ignore-scripts`: a sentence instead of a stack. */
async function unbuilt(error) {
  const { existsSync } = await import('node:fs')
  if (existsSync(new URL('../dist/bundle/main.js', import.meta.url))) throw error
  console.error('This clone is not built, so there is no program yet (dist/ is missing). Type: npm ci && npm run build')
  process.exit(1)
}
