// engines: embedded; process: shared
/** `marketplace db backup` beside a running server. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { insert } from '../store/row-effects.ts'
import { tables } from '../store/table-rules.ts'
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
    assert.equal(rest, { ok: true, file: 'a.db', to: 'b.db', files: 0, missing: { count: 0, names: [] } })
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

test(
  'what rows name and the folder lacks is told by check and backup; a backup that was cut off is named as one',
  inFolder(async folder => {
    const file = join(folder, 'a.db')
    const db = await openSqlite({ file, onFatal: error => assert.unreachable(error.message) })
    await migrate(db, migrations, Date.now)
    const files = JSON.stringify(['f1', 'f2'].map(id => ({ id, name: id, mimeType: 'text/plain', size: 2 })))
    await db.write(async tx => {
      for (const table of ['users', 'agents', 'tasks']) await insert(tx, table, tables[table]!.row)
      await insert(tx, 'deliverables', { ...tables.deliverables!.row, files })
    })
    await db.close()
    const json = async (...args: string[]) => {
      const { code, out, err } = await run(['db', ...args, '--json'], folder)
      return { code, ...JSON.parse(out || err) }
    }
    mkdirSync(`${file}.files`)
    for (const name of ['f1', 'f3']) writeFileSync(join(`${file}.files`, name), name)
    const missing = { count: 1, names: ['f2'] }
    const lack = (of: string) =>
      `1 of 2 delivered files are missing in ${of}: f2. If they are kept elsewhere: --files FOLDER, or --no-files for a bucket`
    const lacking = await json('check', 'a.db')
    assert.equal([lacking.code, lacking.ok, lacking.problems], [3, false, [lack('a.db.files')]])
    assert.equal([lacking.files.missing, lacking.files.leftOver], [missing, { count: 1, names: ['f3'] }])
    const made = await json('backup', 'a.db', 'b.db')
    assert.equal([made.code, made.ok, made.files, made.missing], [3, false, 1, missing])
    assert.equal(readdirSync(`${folder}/b.db.files`), ['f1'])
    const plain = await run(['db', 'backup', 'a.db', 'c.db'], folder)
    assert.is(plain.code, 3)
    assert.ok(plain.out.includes(lack('a.db.files')), plain.out)
    assert.is((await json('check', 'a.db', '--no-files')).code, 0)

    mkdirSync(join(folder, 'elsewhere'))
    for (const name of ['f1', 'f2']) writeFileSync(join(folder, 'elsewhere', name), name)
    assert.is((await json('check', 'a.db', '--files', 'elsewhere')).code, 0)
    assert.equal((await json('backup', 'a.db', 'd.db', '--files', 'elsewhere')).files, 2)
    const whole = await run(['db', 'check', 'd.db'], folder)
    assert.is(whole.code, 0)
    assert.match(whole.out, '2 delivered files; 0 others are in d.db.files.')

    writeFileSync(join(folder, 'cut.db.partial'), '')
    const cut = await run(['db', 'check', 'cut.db'], folder)
    assert.is(cut.code, 1)
    assert.match(cut.err, 'cut.db is a backup that was cut off. Make it again: marketplace db backup FILE cut.db')
    assert.is((await run(['db', 'backup', 'd.db', 'cut.db'], folder)).code, 0)
    assert.is((await run(['db', 'check', 'cut.db'], folder)).code, 0)
  }),
)

test.run()
