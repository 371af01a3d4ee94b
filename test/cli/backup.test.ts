// engines: embedded; process: own
/** `marketplace db backup` beside a running server. */
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, run, start } from './program.ts'

test(
  'a backup of a running server starts as a marketplace of its own, with all that was answered before',
  inFolder(async folder => {
    const admin = { MARKETPLACE_ADMIN_EMAIL: 'root@example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }
    const serve = ['serve', '--port', '0', '--json', '--rate-limits', 'off']
    const first = start([...serve, '--db', 'a.db'], folder, admin)
    const { url } = JSON.parse(await first.firstLine) as { url: string }
    const body = JSON.stringify({ email: 'root@example.com', password: 'correct horse' })
    const json = { 'content-type': 'application/json' }
    const login = await fetch(`${url}/api/auth/login`, { method: 'POST', headers: json, body })
    const cookie = login.headers.getSetCookie()[0]!.split(';', 1)[0]!
    let answered = 0
    let stopped = false
    const writer = (async () => {
      while (!stopped) {
        const name = `name ${answered + 1}`
        const rename = { method: 'PUT', headers: { ...json, cookie }, body: JSON.stringify({ name }) }
        assert.is((await fetch(`${url}/api/auth/me`, rename)).status, 200)
        answered++
      }
    })()
    while (answered < 10) await new Promise(resolve => setTimeout(resolve, 5))
    const before = answered
    // As on a shared database: it says whose the folder is.
    writeFileSync(join(folder, 'a.db.files', 'folder.id'), 'folder_1\n')
    const { code, out, err } = await run(['db', 'backup', 'a.db', 'b.db', '--json'], folder)
    stopped = true
    await writer
    assert.is(code, 0, err)
    const { bytes, ...rest } = JSON.parse(out)
    assert.equal(rest, { ok: true, file: 'a.db', to: 'b.db', files: 0 })
    assert.ok(bytes > 10_000)
    // There for none as well, so that a restore is the same steps; and no copy is the folder itself.
    assert.equal(readdirSync(join(folder, 'b.db.files')), [])
    assert.is((await run(['db', 'check', 'b.db'], folder)).code, 0)
    const again = await run(['db', 'backup', 'a.db', 'b.db'], folder)
    assert.is(again.code, 1)
    assert.match(again.err, 'exists already')
    assert.is((await run(['db', 'backup', 'nothing.db', 'c.db'], folder)).code, 1)
    assert.not(existsSync(join(folder, 'c.db')))
    first.child.kill('SIGTERM')
    assert.is((await first.ended).code, 0)

    copyFileSync(join(folder, 'a.db.key'), join(folder, 'b.db.key'))
    const second = start([...serve, '--db', 'b.db'], folder)
    const copy = JSON.parse(await second.firstLine) as { url: string }
    const me = await fetch(`${copy.url}/api/auth/me`, { headers: { cookie } })
    const { data } = (await me.json()) as { data: { user: { name: string } } }
    assert.ok(Number(data.user.name.split(' ')[1]) >= before, `${data.user.name}, ${before} were answered`)
    second.child.kill('SIGTERM')
    assert.is((await second.ended).code, 0)
  }),
)

test.run()
