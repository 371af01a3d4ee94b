// engines: embedded; process: shared
/** A second dev in a folder: it shows the log of the first, and neither ends with the other. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { version } from '../../src/settings/config.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { inFolder, run, runRefused, start, startDev } from './program.ts'

test(
  'a second dev attaches to the first; Ctrl-C ends it alone, and the end of the first ends it',
  inFolder(async folder => {
    const { ready, stop } = await startDev(folder)
    const second = start(['dev', '--json'], folder)
    let shown = ''
    second.child.stdout!.on('data', chunk => {
      shown += chunk
    })
    assert.equal(JSON.parse(await second.firstLine), { type: 'attached', url: ready.url })
    const visitor = new HttpUser(ready.url)
    await visitor.ask('GET', '/api/categories')
    const line = /^.*"path":"\/api\/categories".*$/m
    while (!line.test(shown)) await once(second.child.stdout!, 'data')
    const entry = JSON.parse(line.exec(shown)![0])
    assert.is(entry.type, 'request')
    assert.is(new Date(entry.at).toISOString(), entry.at)
    second.child.kill('SIGINT')
    assert.is((await second.ended).code, 0)
    assert.is((await visitor.ask('GET', '/api/categories')).status, 200, 'the first goes on')

    const asked = await runRefused(['dev', '--run', 'node agent.mjs'], folder)
    assert.is(asked.code, 2)
    assert.match(
      asked.err,
      `A dev runs here already, at ${ready.url}: end it (process ${ready.pid}), or add --new to --run`,
    )

    // As a program that was upgraded since finds it.
    const path = join(folder, '.marketplace', 'credentials.json')
    const kept = JSON.parse(readFileSync(path, 'utf8'))
    assert.is(kept.version, version)
    writeFileSync(path, JSON.stringify({ ...kept, version: '0.0.1' }))
    const old = `The dev of this folder runs version 0.0.1, and this is ${version}: end it and start it again.`
    assert.match((await run(['agents', 'list'], folder)).err, old)
    const third = start(['dev'], folder)
    assert.match(await third.firstLine, `Attached to the dev of this folder, on port ${new URL(ready.url).port}`)
    const other = start(['dev', '--new', '--json'], folder)
    const another = JSON.parse(await other.firstLine)
    assert.is(another.type, 'ready')
    assert.is.not(another.url, ready.url)
    other.child.kill('SIGTERM')
    await other.ended
    let told = ''
    third.child.stdout!.on('data', chunk => (told += chunk))
    const until = async (words: RegExp) => {
      const over = third.ended.then(() => Promise.reject(new Error(`It ended before ${words}: ${told}`)))
      over.catch(() => {})
      while (!words.test(told)) await Promise.race([once(third.child.stdout!, 'data'), over])
    }
    assert.is((await stop()).code, 0)
    await until(/The dev on port \d+ does not answer\. If it starts again within 20 s, its log goes on\.\n$/)
    const again = await startDev(folder)
    await until(/It runs again, on port \d+\.\n[\s\S]*connection test passed {2}sample-agent\n/)
    await new HttpUser(again.ready.url).ask('GET', '/api/categories?q=again')
    await until(/GET \/api\/categories/)
    assert.is((await again.stop()).code, 0)
    const { code, out } = await third.ended
    assert.is(code, 0)
    assert.match(out, old)
    const port = new URL(again.ready.url).port
    assert.ok(out.endsWith(`its log goes on.\nThe dev on port ${port} has ended.\n`), out)
    assert.is(out.split('does not answer').length, 3, 'it says so once for each end')
    assert.is(out.split('migrated a new database').length, 1, 'what was there before is not told')
  }),
)

test.run()
