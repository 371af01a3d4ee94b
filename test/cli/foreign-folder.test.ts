// engines: embedded; process: shared
/** A folder that somebody else wrote: its files may name an address, and no secret of the user's goes there by that. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, run, start } from './program.ts'

const KEY = `svc_${'7'.repeat(48)}`

/** Answers on this machine, by an address that is no loopback name; all that it was sent. */
async function openStranger() {
  const heard: string[] = []
  const server = http.createServer(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    heard.push(`${req.url} ${JSON.stringify(req.headers)} ${body}`)
    res.setHeader('content-type', 'application/json')
    res.end('{"success":true,"data":{"items":[],"user":{"email":"a@b.example","name":"A"}}}')
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const urlOf = (host: string) => `http://${host}:${port}`
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: urlOf('0.0.0.0'), local: urlOf('127.0.0.1'), heard, close }
}

type Stranger = Awaited<ReturnType<typeof openStranger>>

const withStranger = (work: (folder: string, stranger: Stranger) => Promise<void>) =>
  inFolder(async folder => {
    const stranger = await openStranger()
    try {
      await work(folder, stranger)
    } finally {
      stranger.close()
    }
  })

const LIST = ['call', 'GET', '/api/my/agents']

/** What each file can say, and how the program calls it. */
const files: Readonly<Record<string, (folder: string, url: string) => void>> = {
  'marketplace.json': (folder, url) => writeFileSync(join(folder, 'marketplace.json'), JSON.stringify({ url })),
  'MARKETPLACE_URL of .env': (folder, url) => writeFileSync(join(folder, '.env'), `MARKETPLACE_URL=${url}\n`),
  'a dev in this folder': (folder, url) => {
    mkdirSync(join(folder, '.marketplace'))
    writeFileSync(join(folder, '.marketplace', 'credentials.json'), JSON.stringify({ url, instance: null }))
  },
}

for (const [source, write] of Object.entries(files)) {
  test(
    `an address of ${source} gets no key of the user's until the user names it, as the refusal says`,
    withStranger(async (folder, { url, local, heard }) => {
      write(folder, url)
      for (const [args, env] of [
        [[], { MARKETPLACE_KEY: KEY }],
        [['--key', KEY], {}],
      ] as const) {
        const { code, err } = await run([...LIST, ...args], folder, env)
        assert.is(code, 2, err)
        assert.match(err, `${url} is named by ${source} alone`)
        assert.equal(heard, [], 'nothing at all was sent')
        const [, flag, value] = /add (--url) (\S+) to the command/.exec(err)!
        const [, variable, text] = /export (\w+)=(\S+) before/.exec(err)!
        for (const [more, named] of [
          [[flag!, value!], {}],
          [[], { [variable!]: text! }],
        ] as const) {
          const there = await run([...LIST, ...args, ...more], folder, { ...env, ...named })
          assert.is(there.code, 0, there.err)
          assert.ok(heard.splice(0).some(one => one.includes(KEY)))
        }
      }
      // A machine's own address is nobody else's.
      write === files['a dev in this folder'] || write(folder, local)
      const args = write === files['a dev in this folder'] ? [...LIST, '--url', local] : LIST
      assert.is((await run(args, folder, { MARKETPLACE_KEY: KEY })).code, 0)
    }),
  )
}

test(
  'a key of .env goes to the address of .env, and not to that of what is made to be committed',
  withStranger(async (folder, { url, heard }) => {
    writeFileSync(join(folder, '.env'), `MARKETPLACE_KEY=${KEY}\n`)
    files['marketplace.json']!(folder, url)
    const refused = await run(LIST, folder)
    assert.is(refused.code, 2)
    assert.match(refused.err, 'so the key of MARKETPLACE_KEY of .env was not sent there')
    assert.equal(heard, [])
    writeFileSync(join(folder, '.env'), `MARKETPLACE_KEY=${KEY}\nMARKETPLACE_URL=${url}\n`)
    const sent = await run(LIST, folder)
    assert.is(sent.code, 0, sent.err)
    assert.match(sent.err, `Using ${url} (MARKETPLACE_URL of .env) with the key of MARKETPLACE_KEY of .env`)
    assert.ok(heard.some(one => one.includes(KEY)))
  }),
)

test(
  'a password is typed for an address that the user named; its session goes there from any folder, and nowhere else',
  withStranger(async (folder, { url, heard }) => {
    files['marketplace.json']!(folder, url)
    const login = ['login', '--email', 'a@b.example', '--password-stdin']
    const refused = await run(login, folder, {}, 'correct horse')
    assert.is(refused.code, 2)
    assert.match(refused.err, 'so a password was not sent there')
    const register = ['register', '--name', 'Ann', ...login.slice(1)]
    const unmade = await run(register, folder, {}, 'correct horse')
    assert.equal([unmade.code, unmade.err], [refused.code, refused.err])
    assert.equal(heard, [])
    const done = await run([...login, '--url', url], folder, {}, 'correct horse')
    assert.is(done.code, 0, done.err)
    assert.ok(heard.some(one => one.includes('correct horse')))
    assert.is((await run(['whoami'], folder)).code, 0)
    files['marketplace.json']!(folder, `${url}/else`)
    assert.is((await run(['whoami'], folder)).code, 4)
  }),
)

test(
  'an address is refused that would do something where it is typed again',
  inFolder(async folder => {
    for (const url of [
      'https://market.example/;touch%20here',
      'https://market.example/$(id)',
      'https://$(id).example/',
      "https://market.example/'x",
    ]) {
      files['marketplace.json']!(folder, url)
      const { code, err } = await run(LIST, folder, { MARKETPLACE_KEY: KEY })
      assert.is(code, 2)
      assert.match(err, 'marketplace.json takes an address like')
    }
  }),
)

test(
  'a server says which settings a file of its folder makes',
  inFolder(async folder => {
    writeFileSync(join(folder, 'marketplace.json'), JSON.stringify({ db: 'file.db', port: 0, 'rate-limits': 'warn' }))
    const lineOf = async (args: readonly string[], text: string) => {
      const { child, ended, firstLine } = start([...args], folder)
      await firstLine
      child.kill('SIGTERM')
      const { out, err } = await ended
      assert.match(out + err, text)
    }
    await lineOf(['serve', '--json', '--port', '0'], 'marketplace.json of this folder sets db, rate-limits')
    await lineOf(['dev', '--ephemeral'], 'marketplace.json of this folder sets db, port, rate-limits')
  }),
)

test.run()
