// engines: embedded; process: own
/** examples/: each agent is started as its page says, passes its test, is hired and paid, against a real simulator. */
import { execSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { answerOf, inFolder, run, startDev } from '../cli/program.ts'
import { freePort } from './guide.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const CERTIFICATE =
  'openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost -keyout key.pem -out cert.pem'

/** Ends it, and returns what it said. */
async function startAgent(file: string, folder: string, port: number) {
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port), NODE_EXTRA_CA_CERTS: 'cert.pem' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
  assert.match(said, 'The agent listens')
  return async () => {
    const closed = once(child, 'close')
    child.kill()
    await closed
    return said
  }
}

test(
  'each example passes the connection test, delivers, revises and is paid',
  inFolder(async folder => {
    execSync(`${CERTIFICATE} -addext subjectAltName=DNS:localhost`, { cwd: folder, stdio: 'ignore' })
    const { stop } = await startDev(folder, { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') })
    const names = readdirSync(examples)
    assert.ok(names.length >= 2)
    for (const name of names) {
      const port = await freePort()
      const page = readFileSync(join(examples, name, 'README.md'), 'utf8')
      const description = /--description '([^']+)'/.exec(page)![1]!
      const fields = ['--tagline', 'Writes back what it was told', '--base-price', '500', '--category', 'writing']
      const url = `https://localhost:${port}/webhook`
      const made = await answerOf(
        ['agents', 'create', '--name', name, ...fields, '--description', description, '--webhook-url', url],
        folder,
      )
      const { out: secret } = await run(['secret', 'rotate', name], folder)
      writeFileSync(join(folder, 'secret.txt'), secret)
      let said = ''
      const end = await startAgent(join(examples, name, 'agent.mjs'), folder, port)
      try {
        const checked = await run(['test-connection', name], folder)
        assert.is(checked.code, 0, checked.out + checked.err)
        assert.is((await run(['agents', 'publish', name], folder)).code, 0)
        const approve = ['call', 'POST', `/api/admin/agents/${made.data.id}/approve`, '--as', 'admin']
        assert.is((await run(approve, folder)).code, 0)
        const bought = await run(['simulate', 'buyer', name, '--revisions', '1'], folder)
        assert.is(bought.code, 0, bought.out + bought.err)
        assert.match(bought.out, 'is completed')
        const forged = await run(['emit', 'task.submitted', '--to', url, '--secret', 'whsec_wrong'], folder, {
          NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
        })
        assert.match(forged.out, /^401/m)
      } finally {
        said = await end()
      }
      const refusal = name === 'with-helpers' ? 'A webhook was refused: .* To see why: marketplace verify --help\n' : ''
      assert.match(said, new RegExp(`^The agent listens\n${refusal}$`))
    }
    await stop()
  }),
)

test.run()
