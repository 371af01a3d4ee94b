/** Packs the package and has publint and attw look at the archive: what npm and compilers of users make of it. Run by `npm run check`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'

const folder = mkdtempSync(join(tmpdir(), 'packed-'))
const run = execa({ preferLocal: true, all: true, reject: false })
try {
  const packed = await execa('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder])
  const archive = join(folder, packed.stdout)
  // The package has ES modules alone, which `require` loads where Node can.
  const looks = [
    run('publint', ['--strict', archive]),
    run('attw', [archive, '--profile', 'esm-only', '--format', 'ascii']),
  ]
  for (const { failed, all } of await Promise.all(looks)) {
    if (!failed) continue
    console.error(all)
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
