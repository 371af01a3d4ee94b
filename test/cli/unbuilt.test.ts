// engines: embedded; process: shared
/** The program where it can't run: in a clone that nobody has built, and on an old Node. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { requiredNode } from '../../src/settings/config.ts'
import { inFolder, PROGRAM } from './program.ts'

test(
  'a clone that is not built says so, and what to type; what is built and broken says what broke',
  inFolder(async folder => {
    const program = join(folder, 'bin', 'marketplace.js')
    const bundle = join(folder, 'dist', 'bundle')
    mkdirSync(join(folder, 'bin'))
    copyFileSync(PROGRAM, program)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const demo = () => spawnSync(process.execPath, [program, 'demo'], { encoding: 'utf8' })
    const unbuilt = demo()
    assert.is(unbuilt.status, 1)
    assert.match(unbuilt.stderr, /^This clone is not built, .+ npm run build\n$/)
    mkdirSync(bundle, { recursive: true })
    writeFileSync(join(bundle, 'main.js'), "import 'no-such-package'")
    assert.match(demo().stderr, "Cannot find package 'no-such-package'")
  }),
)

test('a Node that is too old is told which one is needed', () => {
  // What such a Node does not have.
  const old = ['--import', 'data:text/javascript,delete process.getBuiltinModule']
  const { status, stderr } = spawnSync(process.execPath, [...old, PROGRAM, 'version'], { encoding: 'utf8' })
  assert.is(status, 1)
  assert.is(stderr, `marketplace needs Node ${requiredNode()}, 22.3 or later, and this is ${process.version}.\n`)
})

test.run()
