/** The console: one page for each of its addresses, and the files that the build has made for it. Source: A-310. */
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Config } from '../settings/config.ts'
import type { PageReply, WebPage } from './server.ts'

/** At the same relative path from src and from dist. */
const built = new URL('../../dist/console/', import.meta.url)

/** Allows nothing from other origins, nothing inline, no framing, and no text to become markup. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headersOfPage = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The name of a file tells its content. */
const headersOfFile = {
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}

/** As deep as its addresses go: `/console/conformance/{run}/{check}`. */
const paths = ['/console', '/console/:a', '/console/:a/:b', '/console/:a/:b/:c']

interface Kept {
  readonly plain: PageReply
  /** The same for who takes it packed. */
  readonly packed: PageReply
}

/** Files are read when they are first asked for. */
export function consolePages({ mode }: Pick<Config, 'mode'>, folder = built): Record<string, WebPage> {
  const kept = new Map<string, Kept>()
  const read = async (name: string): Promise<Kept | null> => {
    const names = await readdir(folder).catch((): string[] => [])
    if (!names.includes(name)) return null
    const made = keptOf(name, await readFile(new URL(name, folder)), mode)
    kept.set(name, made)
    return made
  }
  const page: WebPage = async ({ path, headers }) => {
    const [, , last = '', ...below] = path.split('/')
    // Pages may have a point further below, as `sig.valid` in a run of the judge.
    const name = below.length === 0 && last.includes('.') ? last : 'index.html'
    const found = kept.get(name) ?? (await read(name))
    if (!found) return null
    return /\bgzip\b/.test(String(headers['accept-encoding'])) ? found.packed : found.plain
  }
  return Object.fromEntries(paths.map(path => [path, page]))
}

function keptOf(name: string, bytes: Buffer, mode: Config['mode']): Kept {
  const isPage = name === 'index.html'
  const body = isPage ? Buffer.from(String(bytes).replace(/ data-mode="\w+"/, ` data-mode="${mode}"`)) : bytes
  const type = isPage ? 'text/html; charset=utf-8' : (types[extname(name)] ?? 'application/octet-stream')
  const headers = isPage ? { ...headersOfPage, vary: 'accept-encoding' } : headersOfFile
  const packed = { type, body: gzipSync(body, { level: 9 }), headers: { ...headers, 'content-encoding': 'gzip' } }
  return { plain: { type, body, headers }, packed }
}
