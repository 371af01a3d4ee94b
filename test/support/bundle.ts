/** The tests as plain JavaScript: made once for a run, since a process that reads TypeScript takes a second to load. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { bundledAs, childCode } from './child-code.ts'
import { SHORT_LIVED } from './short-lived.ts'

export interface Bundle {
  /** What runs test files, for `node`. */
  workerArguments: string[]
  /** Of a test file, for the worker. */
  pathOf(file: string): string
  remove(): void
}

/** What runs the tests, and stands for uvu in them if anything does. */
export interface Runner {
  worker: string
  uvu?: string
  sourceMaps: boolean
  /** Whether a marketplace in memory begins with the empty database of the build: by all migrations it takes 34 ms of CPU, so 14. */
  emptyDatabase?: boolean
}

const plain: Runner = { worker: 'test/support/worker-process.ts', sourceMaps: true, emptyDatabase: true }

/**
 * Bundles files of test/, given by their paths in it. All lie two folders below the root, as the modules of src and of
 * the package do, so that whatever is named relative to a module is found: fixtures, sources, the snapshot's thread.
 */
export async function bundleTests(
  files: readonly string[],
  { worker, uvu, sourceMaps, emptyDatabase = false }: Runner = plain,
): Promise<Bundle> {
  mkdirSync('dist', { recursive: true })
  const folder = mkdtempSync(join('dist', 'tests-'))
  const tests = files.map(file => ({ in: join('test', file), out: nameOf(file) }))
  await build({
    entryPoints: [
      ...tests,
      ...childCode.map(path => ({ in: path, out: bundledAs(path) })),
      { in: worker, out: 'worker-process' },
      { in: 'src/store/embedded/snapshot-worker.ts', out: 'snapshot-worker' },
    ],
    outdir: folder,
    absWorkingDir: process.cwd(),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: sourceMaps,
    sourcesContent: false,
    alias: { '@node-rs/argon2': './test/support/argon2.ts' },
    external: installed(),
    plugins: uvu === undefined ? [] : [standIn('uvu', uvu)],
    logLevel: 'warning',
  })
  if (emptyDatabase) copyFileSync(join('dist', 'bundle', 'empty.db'), join(folder, 'empty.db'))
  return {
    workerArguments: [
      ...SHORT_LIVED,
      ...(sourceMaps ? ['--enable-source-maps'] : []),
      join(folder, 'worker-process.js'),
    ],
    pathOf: file => join(folder, `${nameOf(file)}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** For the name alone: `uvu/assert` stays what it is. */
export const standIn = (name: string, path: string): Plugin => ({
  name: 'stand-in',
  setup: build => build.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: resolve(path) })),
})

const nameOf = (file: string) => file.replace(/\.ts$/, '').replaceAll(/[/\\]/g, '.')

/** Zod is taken in, as into the package: it is nearly a hundred files. */
function installed(): string[] {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.keys({ ...dependencies, ...devDependencies }).filter(name => name !== 'zod')
}
