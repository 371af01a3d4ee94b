/** The package as npm would pack it, and folders of those who have installed it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

/** `remove` when all tests have ended. */
export function pack() {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-package-'))
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', place]
  const [{ files, filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }))
  return {
    files: files.map(({ path }: { path: string }) => path) as string[],
    remove: () => rmSync(place, { recursive: true }),
    /**
     * Installs it in a folder, with the packages that it needs and `more` of them. Returns its program. `version`: another
     * than its own.
     */
    install(folder: string, { more = [], version }: { more?: readonly string[]; version?: string } = {}) {
      const modules = join(folder, 'node_modules')
      const own = join(modules, manifest.name)
      mkdirSync(own, { recursive: true })
      execFileSync('tar', ['-xzf', join(place, filename), '--strip-components=1', '-C', own])
      for (const one of [...Object.keys(manifest.dependencies), ...more]) {
        mkdirSync(dirname(join(modules, one)), { recursive: true })
        symlinkSync(resolve('node_modules', one), join(modules, one))
      }
      if (version) writeFileSync(join(own, 'package.json'), JSON.stringify({ ...manifest, version }))
      return join(own, manifest.bin.marketplace)
    },
  }
}
