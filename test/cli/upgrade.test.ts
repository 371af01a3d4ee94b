// engines: postgres; process: own; lengths: long
/** The packed program in a folder of the version before it: what was kept is there, and what is printed says which version is which. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { version } from '../../src/settings/config.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { freshDatabase } from '../support/databases.ts'
import { startObjectStore } from '../support/object-store.ts'
import { pack } from '../support/packed.ts'
import { until } from '../support/patience.ts'
import { inFolder } from './program.ts'

const packed = pack()
test.after(packed.remove)

const LATER = '99.0.1'

/** Both versions, and a folder that people work in. */
function versionsIn(folder: string) {
  const here = join(folder, 'here')
  const install = (name: string, of?: string) => {
    mkdirSync(join(folder, name))
    return packed.install(join(folder, name), of === undefined ? {} : { version: of })
  }
  mkdirSync(here)
  return { here, old: install('old'), later: install('later', LATER) }
}

function startOf(program: string, cwd: string, words: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const { PATH } = process.env
  const env = { PATH, HOME: cwd, XDG_CONFIG_HOME: cwd, NO_COLOR: '1', ...more }
  const child = spawn(process.execPath, [program, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(([out, err]) => ({
    code: child.exitCode,
    out,
    err,
  }))
  const firstLine = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line))
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  return {
    ended,
    said: () => said,
    ready: async () => JSON.parse(await Promise.race([firstLine, ended.then(said => Promise.reject(said))])),
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

test(
  'a dev of the later version has accounts, keys, agents, tasks and addresses of the one before; until that ends it says so',
  inFolder(async folder => {
    const { here, old, later } = versionsIn(folder)
    const typed = (program: string, ...words: string[]) => startOf(program, here, words).ended
    const dev = ['dev', '--json', '--port', String(await freePort()), '--agent', 'writer=localhost:9']
    const first = startOf(old, here, dev)
    const before = await first.ready()
    const texts = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00']
    const made = await typed(old, 'tasks', 'create', '--agent', 'sample-agent', ...texts, '--json')
    const { id } = JSON.parse(made.out).data
    assert.is((await typed(old, 'tasks', 'submit', id)).code, 0)
    const taskOf = async (program: string) => JSON.parse((await typed(program, 'tasks', 'show', id, '--json')).out).data
    await until('the work', async () => (await taskOf(old)).status === 'delivered')

    const words = `The dev of this folder runs version ${version}, and this is ${LATER}: end it and start it again.`
    const listed = await typed(later, 'agents', 'list')
    assert.is(listed.code, 0, listed.err)
    assert.match(listed.err, words)
    assert.match((await typed(later, 'doctor')).out, words)
    const attached = startOf(later, here, ['dev'])
    await until(
      () => `${words} in ${attached.said()}`,
      () => attached.said().includes(words),
    )
    await attached.stop()
    assert.is((await first.stop()).code, 0)

    const second = startOf(later, here, dev)
    const after = await second.ready()
    assert.equal({ ...after, pid: 0 }, { ...before, pid: 0 })
    const task = await taskOf(later)
    assert.is(task.status, 'delivered')
    const page = await fetch(`${after.url}/console/tasks/${id}`)
    assert.is(page.status, 200)
    const approved = await typed(later, 'tasks', 'approve', id, '--yes')
    assert.equal([approved.code, approved.err.includes('runs version')], [0, false], approved.err)
    assert.match((await typed(old, 'agents', 'list')).err, `runs version ${LATER}, and this is ${version}`)
    assert.is((await second.stop()).code, 0)

    // Who goes back finds what the later one has left.
    const third = startOf(old, here, dev)
    assert.equal((await third.ready()).accounts, before.accounts)
    assert.is((await taskOf(old)).status, 'completed')
    await third.stop()
  }),
)

const ADMIN = { MARKETPLACE_ADMIN_EMAIL: 'root@example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }

/** Somebody who has an account, and what he reads with its key. */
async function member(url: string) {
  const user = new HttpUser(url)
  await user.call('POST', '/api/auth/register', {
    email: 'buyer@example.com',
    password: 'correct horse battery',
    name: 'Buyer',
    isBuilder: true,
  })
  const { key } = await user.call<{ key: string }>('POST', '/api/my/api-keys', { name: 'kept' })
  return key
}

const isKnown = async (url: string, key: string) => {
  const user = new HttpUser(url)
  user.key = key
  return (await user.ask('GET', '/api/auth/me', undefined, 'key')).status === 200
}

test(
  'a deployment on a file is succeeded by the later version once it has ended, and not before',
  inFolder(async folder => {
    const { here, old, later } = versionsIn(folder)
    const serve = ['serve', '--json', '--port', String(await freePort())]
    const first = startOf(old, here, serve, ADMIN)
    const { url } = await first.ready()
    const key = await member(url)
    const early = await startOf(later, here, [...serve.slice(0, 2), '--port', '0'], ADMIN).ended
    assert.is(early.code, 1)
    assert.match(early.out, /"type":"error".*process \d+/)
    assert.ok(await isKnown(url, key))
    assert.match((await first.stop()).out, `"version":"${version}"`)
    const second = startOf(later, here, serve)
    assert.is((await second.ready()).url, url)
    assert.ok(await isKnown(url, key))
    const { code, out } = await second.stop()
    assert.is(code, 0)
    assert.match(out, `"version":"${LATER}"`)
  }),
)

test(
  'two versions run on one Postgres side by side, so that one can follow the other without a pause',
  inFolder(async folder => {
    const { here, old, later } = versionsIn(folder)
    const database = await freshDatabase()
    const store = await startObjectStore()
    const env = { ...ADMIN, ...store.env, MARKETPLACE_SECRET_KEY: randomBytes(32).toString('base64') }
    const serve = ['serve', '--json', '--port', '0', '--db', database.url, '--files', store.address]
    const first = startOf(old, here, serve, env)
    const { url } = await first.ready()
    const key = await member(url)
    const second = startOf(later, here, serve, env)
    const { url: next } = await second.ready()
    assert.ok((await isKnown(url, key)) && (await isKnown(next, key)))
    assert.is((await first.stop()).code, 0)
    assert.ok(await isKnown(next, key))
    assert.is((await second.stop()).code, 0)
    await database.drop()
    await store.close()
  }),
)

test.run()
