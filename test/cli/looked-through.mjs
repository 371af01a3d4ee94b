/**
 * Loaded into Node before the program. Says on stderr which files in CommonJS are imported by a module, and when the first word goes to
 * stdout: Node looks through those files for the names that they export. What is required is none of them.
 */
import { writeSync } from 'node:fs'
import * as module from 'node:module'
import { isMainThread } from 'node:worker_threads'

const say = words => writeSync(2, `${words}\n`)

const note = (url, { format }) => {
  if (format === 'commonjs') say(`looked through ${url}`)
}

/** For Node 20, which asks this in a thread of its own, and about imports alone. */
export async function load(url, context, next) {
  const loaded = await next(url, context)
  note(url, loaded)
  return loaded
}

function loadNow(url, context, next) {
  const loaded = next(url, context)
  if (context.conditions.includes('import')) note(url, loaded)
  return loaded
}

if (module.registerHooks) module.registerHooks({ load: loadNow })
else if (isMainThread) module.register(import.meta.url)

const { stdout } = process
const { write } = stdout
stdout.write = (...args) => {
  say('first word')
  stdout.write = write
  return stdout.write(...args)
}
