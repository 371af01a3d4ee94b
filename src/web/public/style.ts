/** The stylesheet, the logo and the icon: the only files that the public pages load. Their addresses change with them, so a browser keeps them for good. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Config } from '../../settings/config.ts'
import { readAsset } from '../assets.ts'
import type { PageReply, WebPage } from '../server.ts'
import { markFile } from './icons.ts'

/** The tokens and the base are those of the console too. */
const FILES = ['tokens', 'base', 'public']

interface File {
  readonly href: string
  readonly type: string
  readonly body: string | Buffer
  /** The same for who takes it packed. */
  readonly packed: Buffer
}

export class PublicFiles {
  #style: File | null = null
  #picture: File | null = null

  /** null until a request has read it: what is asked for then has an address that is not kept. */
  get style(): File | null {
    return this.#style
  }

  async readStyle({ brand: { colors } }: Config): Promise<File> {
    // Kept once it is read: a file that could not be, as no descriptor was free, is read at the next request.
    if (!this.#style) {
      const texts = await Promise.all(FILES.map(name => readAsset(`pages/${name}.css`)))
      const own = colors ? [brandStyle(colors)] : []
      this.#style = versioned('/assets/style.css', 'text/css; charset=utf-8', [...texts, ...own].join('\n'))
    }
    return this.#style
  }

  /** The logo, or the sign of a marketplace without one. */
  picture({ brand: { logo } }: Pick<Config, 'brand'>): File {
    this.#picture ??= logo
      ? versioned('/assets/logo', logo.type, logo.bytes)
      : versioned('/assets/logo', 'image/svg+xml', markFile)
    return this.#picture
  }
}

const versioned = (path: string, type: string, body: string | Buffer): File => ({
  href: `${path}?v=${createHash('sha256').update(body).digest('hex').slice(0, 16)}`,
  type,
  body,
  packed: gzipSync(body),
})

/** In `src/settings/brand.ts` both colours are held to what can be read. */
export const brandStyle = ({ light, dark }: { light: string; dark: string }) =>
  `:root { --accent: light-dark(${light}, ${dark}); --accent-g: color-mix(in srgb, var(--accent) 8%, var(--surface)) }
.b.main-b { background: var(--accent); border-color: var(--accent) }
.b.main-b:hover { background: var(--ink); border-color: var(--ink) }
`

const YEAR = 'public, max-age=31536000, immutable'

export function publicFilePages(config: Config, files: PublicFiles): Record<string, WebPage> {
  const send = ({ href, type, body, packed }: File, { query, headers }: Parameters<WebPage>[0]): PageReply => {
    const isPacked = /\bgzip\b/.test(String(headers['accept-encoding']))
    return {
      type,
      body: isPacked ? packed : body,
      headers: {
        // Opened by itself, a picture in SVG could run scripts.
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': href.endsWith(`=${String(query.v)}`) ? YEAR : 'no-cache',
        vary: 'accept-encoding',
        ...(isPacked && { 'content-encoding': 'gzip' }),
      },
    }
  }
  return {
    '/assets/style.css': async request => send(await files.readStyle(config), request),
    '/assets/logo': request => send(files.picture(config), request),
  }
}
