// engines: embedded; process: shared
/** The program in a clone that nobody has built. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
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

test.run()
