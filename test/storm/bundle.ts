/** The storms as plain JavaScript: it starts faster, and a change can be made to the source on the way. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** Another text in one file of `src`. */
export interface Change {
  readonly file: string
  readonly from: string
  readonly to: string
}

export interface Program {
  readonly path: string
  remove(): void
}

export async function bundled(change?: Change): Promise<Program> {
  mkdirSync('dist', { recursive: true })
  const folder = mkdtempSync(join('dist', 'storm-'))
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  await build({
    entryPoints: ['test/storm/play.ts'],
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    alias: { '@node-rs/argon2': './test/storm/argon2.ts' },
    external: Object.keys({ ...dependencies, ...devDependencies }).filter(
      name => name !== 'zod' && name !== '@node-rs/argon2',
    ),
    plugins: change ? [changing(change)] : [],
    logLevel: 'warning',
  })
  return { path: join(folder, 'play.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const changing = (change: Change): Plugin => ({
  name: 'change',
  setup: plan =>
    plan.onLoad({ filter: /\.ts$/ }, ({ path }) =>
      relative(process.cwd(), path) === change.file ? { contents: changed(change), loader: 'ts' } : undefined,
    ),
})

/** The text of its file with the change made. */
export function changed({ file, from, to }: Change): string {
  const text = readFileSync(file, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`)
  return text.replace(from, () => to)
}
