// engines: postgres; process: shared
/** dev on Postgres: the same accounts over a restart, with the key in its folder; a database of others stays as it is. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../support/databases.ts'
import { devOf, hire } from './dev-lines.ts'
import { inFolder, run, start } from './program.ts'

test(
  'dev keeps its data on a server and its credentials in the folder; it does not touch a deployment',
  inFolder(async folder => {
    const { url, drop } = await freshDatabase()
    try {
      const dev = await devOf(folder, ['--db', url])
      await hire(dev, dev.ready.agents[0]!.id)
      await dev.until('the work', ({ type, to }) => type === 'task' && to === 'delivered')
      await dev.stop()
      const again = await devOf(folder, ['--db', url])
      assert.equal(again.ready.accounts, dev.ready.accounts)
      // Another dev may have had the usual port of agents' names the first time.
      const withoutUrls = ({ ready }: typeof dev) => ready.agents.map(({ webhookUrl, ...agent }) => agent)
      assert.equal(withoutUrls(again), withoutUrls(dev))
      await again.stop()
      assert.is(statSync(join(folder, '.marketplace', 'postgres.key')).mode & 0o777, 0o600)
      assert.not(existsSync(join(folder, 'marketplace.files')))
    } finally {
      await drop()
    }
    const deployment = await freshDatabase()
    try {
      const admin = { MARKETPLACE_ADMIN_EMAIL: 'ada@market.example', MARKETPLACE_ADMIN_PASSWORD: 'a long enough one' }
      const secret = { MARKETPLACE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
      const served = start(['serve', '--db', deployment.url, '--port', '0', '--json'], folder, { ...admin, ...secret })
      await served.firstLine
      served.child.kill('SIGTERM')
      await served.ended
      const refused = await run(['dev', '--db', deployment.url, '--port', '0'], folder)
      assert.is(refused.code, 2)
      assert.match(refused.err, 'has accounts that no dev has made, so dev does not touch it')
    } finally {
      await deployment.drop()
    }
  }),
)

test.run()
