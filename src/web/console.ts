/** The console: one page for each of its addresses, and the files that the build has made for it. Source: A-308, A-310. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Config } from '../settings/config.ts'
import { html } from '../shared/html.ts'
import { siteName } from './public/layout.ts'
import { brandStyle, type PublicFiles } from './public/style.ts'
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

type Branded = Pick<Config, 'mode' | 'brand' | 'baseUrl'>

/** Files are read when they are first asked for. */
export function consolePages(config: Branded, files: PublicFiles, folder = built): Record<string, WebPage> {
  const { colors } = config.brand
  const style = colors && brandStyle(colors)
  const styleName = style && `brand-${createHash('sha256').update(style).digest('hex').slice(0, 16)}.css`
  const kept = new Map<string, Kept>()
  if (style) kept.set(styleName!, keptOf(styleName!, Buffer.from(style)))
  const read = async (name: string): Promise<Kept | null> => {
    const names = await readdir(folder).catch((): string[] => [])
    if (!names.includes(name)) return null
    const bytes = await readFile(new URL(name, folder))
    const made = keptOf(name, name === 'index.html' ? branded(String(bytes), { config, files, styleName }) : bytes)
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

interface Brand {
  config: Branded
  files: PublicFiles
  styleName: string | null
}

/** The page with what an operator has given: its scripts find the name and the logo there. */
function branded(page: string, { config, files, styleName }: Brand): Buffer {
  const name = siteName(config)
  const logo = config.brand.logo && files.picture(config).href
  const mode = html` data-mode="${config.mode}"${name !== 'marketplace' && html` data-name="${name}"`}${logo && html` data-logo="${logo}"`}`
  const style = styleName ? `<link rel="stylesheet" href="/console/${styleName}">\n` : ''
  const given = page
    .replace(/ data-mode="\w+"/, () => mode.text)
    .replace(/<title>marketplace/, () => html`<title>${name}`.text)
    .replace(/(?=<script type="module")/, style)
  return Buffer.from(logo ? given.replace(/(?<=rel="icon" href=")[^"]+/, () => html`${logo}`.text) : given)
}

function keptOf(name: string, body: Buffer): Kept {
  const isPage = name === 'index.html'
  const type = isPage ? 'text/html; charset=utf-8' : (types[extname(name)] ?? 'application/octet-stream')
  const headers = isPage ? { ...headersOfPage, vary: 'accept-encoding' } : headersOfFile
  const packed = { type, body: gzipSync(body, { level: 9 }), headers: { ...headers, 'content-encoding': 'gzip' } }
  return { plain: { type, body, headers }, packed }
}
