// engines: embedded; process: own
/** A second dev in a folder: it shows the log of the first, and neither ends with the other. */
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpUser } from '../../src/sim/http-user.ts'
import { inFolder, run, start, startDev } from './program.ts'

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

    const asked = await run(['dev', '--run', 'node agent.mjs'], folder)
    assert.is(asked.code, 2)
    assert.match(asked.err, `A dev runs here already, at ${ready.url}: end it, or add --new to --run`)

    const third = start(['dev'], folder)
    assert.match(await third.firstLine, `Attached to the dev of this folder, on port ${new URL(ready.url).port}`)
    const other = start(['dev', '--new', '--json'], folder)
    const another = JSON.parse(await other.firstLine)
    assert.is(another.type, 'ready')
    assert.is.not(another.url, ready.url)
    other.child.kill('SIGTERM')
    assert.is((await stop()).code, 0)
    const { code, out } = await third.ended
    assert.is(code, 0)
    assert.match(out, /The dev on port \d+ has ended\.\n$/)
    await other.ended
  }),
)

test.run()
