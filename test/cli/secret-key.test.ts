// engines: embedded, postgres at length; process: shared
/** The key that seals secrets: made whole and durable, never guessed, and replaced only when somebody says so. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openMarketplace } from '../../src/open/open.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { inFolder, start } from './program.ts'

const refused = (options: object) =>
  openMarketplace({ mode: 'serve', file: null, port: 0, ...options }).then(
    async marketplace => {
      await marketplace.close()
      return 'it started'
    },
    (error: Error) => error.message,
  )

test(
  'a key file that is lost, empty or not a key is refused with the way on, and nothing is made or changed',
  inFolder(async folder => {
    const file = join(folder, 'market.db')
    const path = `${file}.key`
    await (await openMarketplace({ mode: 'serve', file, port: 0 })).close()
    const key = readFileSync(path, 'utf8')
    assert.is(statSync(path).mode & 0o777, 0o600)
    for (const broken of ['', 'not a key', `${'A'.repeat(43)}=\n`]) {
      writeFileSync(path, broken)
      assert.match(await refused({ file }), /serve --new-secret-key/)
      assert.is(readFileSync(path, 'utf8'), broken)
    }
    rmSync(path)
    assert.match(await refused({ file }), /is missing.*serve --new-secret-key/)
    assert.throws(() => statSync(path), /ENOENT/)
    writeFileSync(path, key)
    assert.is(await refused({ file }), 'it started')
  }),
)

test(
  'a machine that stopped while the first key was written goes on with another: nothing was sealed yet',
  inFolder(async folder => {
    const file = join(folder, 'market.db')
    writeFileSync(`${file}.key`, '')
    writeFileSync(`${file}.key.new`, 'half of a k')
    assert.is(await refused({ file }), 'it started')
    assert.is(Buffer.from(readFileSync(`${file}.key`, 'utf8').trim(), 'base64').length, 32)
  }),
)

test(
  'serve --new-secret-key takes the place of a lost key: agents rotate and work again, and a key that is right is kept',
  inFolder(async folder => {
    const file = join(folder, 'market.db')
    const marketplace = await openTestMarketplace({ file })
    const builder = await marketplace.join('builder')
    const agent = { id: (await marketplace.list(builder)).id, key: builder.key! }
    await marketplace.close()
    writeFileSync(`${file}.key`, '')
    const using = async (use: (ask: Ask) => Promise<void>, flags: readonly string[] = []) => {
      const { child, ended, firstLine } = start(['serve', '--db', file, '--port', '0', ...flags, '--json'], folder)
      const { url } = JSON.parse(await firstLine)
      await use(askOf(url, agent.key))
      child.kill('SIGTERM')
      const { code, out } = await ended
      assert.is(code, 0, out)
      return out
    }
    const path = `/api/my/agents/${agent.id}`
    const log = await using(
      async ask => {
        const listed = await ask('GET', path)
        assert.is(listed.lastCheckPassedAt, null)
        const [news] = (await ask('GET', '/api/notifications')).items
        assert.match(news.message, /rotate its secret/)
        assert.match((await ask('POST', `${path}/webhook-secret`, {})).secret, /^whsec_/)
      },
      ['--new-secret-key'],
    )
    assert.match(log, /A new secret key is in use.*the webhook secrets of 1 agents/)
    const key = readFileSync(`${file}.key`, 'utf8')
    const again = await using(
      async ask => assert.is((await ask('GET', '/api/notifications')).items.length, 1),
      ['--new-secret-key'],
    )
    assert.not.match(again, /A new secret key/)
    assert.is(readFileSync(`${file}.key`, 'utf8'), key)
  }),
)

// biome-ignore lint/suspicious/noExplicitAny: whatever the endpoint answers
type Ask = (method: string, path: string, body?: object) => Promise<any>

const askOf =
  (url: string, key: string): Ask =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    return ((await answer.json()) as { data: unknown }).data
  }

test.run()
