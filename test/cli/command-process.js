/**
 * Runs commands of the built program one after another in one process: starting a process for each costs 0.16 s of CPU, the
 * command itself 0.02. A command that would not end by itself is told of as one that hangs.
 */
import fs from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'

/** As long as test/support/patience.ts waits. */
const END_MS = 120_000
const { main } = await import('../../dist/bundle/main.js')

class Exited extends Error {
  constructor(code) {
    super(`exit ${code}`)
    this.code = code
  }
}

const said = { out: '', err: '' }
const hear = name => (chunk, encoding, done) => {
  said[name] += Buffer.isBuffer(chunk) ? chunk.toString() : chunk
  const call = typeof encoding === 'function' ? encoding : done
  if (call) process.nextTick(call)
  return true
}
// The log of a deployment goes past the streams, to their descriptors.
const { write } = fs
fs.write = (fd, text, ...rest) => {
  if (fd !== 1 && fd !== 2) return write(fd, text, ...rest)
  said[fd === 1 ? 'out' : 'err'] += text
  process.nextTick(rest.at(-1), null, Buffer.byteLength(text))
}
process.stdout.write = hear('out')
process.stderr.write = hear('err')

let exit = () => {}
process.exit = code => {
  exit(Number(code ?? process.exitCode ?? 0))
  throw new Exited(code)
}
process.on('uncaughtException', error => {
  if (error instanceof Exited) return
  said.err += error.stack
  exit(7)
})

/** What keeps a process alive, idle connections aside. */
const active = () => process.getActiveResourcesInfo().length

async function run({ args, cwd, env, input }) {
  Object.assign(said, { out: '', err: '' })
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(input ? [Buffer.from(input)] : []),
    configurable: true,
  })
  const before = active()
  const exited = new Promise(resolve => {
    exit = resolve
  })
  const code = await Promise.race([main(args), exited])
  for (let waited = 0; active() > before; waited += 5) {
    if (waited >= END_MS) {
      const left = process.getActiveResourcesInfo().join(', ')
      return { code: null, out: said.out, err: `${said.err}\nThe command does not end: ${left}` }
    }
    await wait(5)
  }
  return { code, ...said }
}

process.on('message', message => void run(message).then(ended => process.send(ended)))
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send('ready')
