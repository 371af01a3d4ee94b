/** The tests as plain JavaScript: made once for a run, since a process that reads TypeScript takes a second to load. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

export interface Bundle {
  /** What runs test files, for `node`. */
  laneArguments: string[]
  /** Of a test file, for the lane. */
  pathOf(file: string): string
  remove(): void
}

/**
 * Bundles files of test/, given by their paths in it. All lie two folders below the root, as the modules of src and of
 * the package do, so that whatever is named relative to a module is found: fixtures, sources, the snapshot's thread.
 */
export async function bundleTests(files: readonly string[]): Promise<Bundle> {
  mkdirSync('dist', { recursive: true })
  const folder = mkdtempSync(join('dist', 'tests-'))
  const tests = files.map(file => ({ in: join('test', file), out: nameOf(file) }))
  await build({
    entryPoints: [
      ...tests,
      { in: 'test/support/lane-process.ts', out: 'lane-process' },
      { in: 'src/store/embedded/snapshot-worker.ts', out: 'snapshot-worker' },
    ],
    outdir: folder,
    absWorkingDir: process.cwd(),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    alias: { '@node-rs/argon2': './test/support/argon2.ts' },
    external: installed(),
    logLevel: 'warning',
  })
  return {
    laneArguments: ['--enable-source-maps', join(folder, 'lane-process.js')],
    pathOf: file => join(folder, `${nameOf(file)}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const nameOf = (file: string) => file.replace(/\.ts$/, '').replaceAll(/[/\\]/g, '.')

/** Zod is taken in, as into the package: it is nearly a hundred files. */
function installed(): string[] {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.keys({ ...dependencies, ...devDependencies }).filter(name => name !== 'zod')
}
