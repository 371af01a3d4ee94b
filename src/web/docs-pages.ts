/** The pages that describe the interface: `/openapi.json` for programs, `/docs` for people, to which `/` leads. Source. */
import { readFile } from 'node:fs/promises'
import type { Endpoint } from '../api/endpoint.ts'
import type { OpenApi } from '../api/openapi/openapi.ts'
import type { Config } from '../settings/config.ts'
import type { PageReply, WebPage } from './server.ts'

/** At the same relative path from src and from dist. */
const assets = new URL('../../fixtures/reference/', import.meta.url)

/** Allows nothing from other origins, nothing inline and no framing. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Loaded late: a start need not wait for what few simulators are asked for. A deployment loads it ahead. */
export async function loadReference() {
  const [{ openApi }, { referencePage }] = await Promise.all([
    import('../api/openapi/openapi.ts'),
    import('./docs-html.ts'),
  ])
  return { openApi, referencePage }
}

/** Each page is made at its first request, because the base URL may be known only once the server listens. */
export function contractPages(
  endpoints: Readonly<Record<string, Endpoint>>,
  config: Config,
  read: (file: URL) => Promise<Buffer> = readFile,
): Record<string, WebPage> {
  const { version, mode } = config
  let document: OpenApi | undefined
  const describe = async () => {
    const { openApi } = await loadReference()
    document ??= openApi({ endpoints, version, baseUrl: config.baseUrl, mode })
    return document
  }
  const once = (make: () => PageReply | Promise<PageReply>): WebPage => {
    let page: PageReply | undefined
    return async () => {
      // Kept once it is made: a file that could not be read, as no descriptor was free, is read at the next request.
      page ??= await make()
      return page
    }
  }
  const asset = async (name: string, type: string): Promise<PageReply> => ({
    type: `${type}; charset=utf-8`,
    body: await read(new URL(name, assets)),
  })
  return {
    // Who opens the address of a marketplace in a browser wants to know what is there.
    '/': () => ({ status: 302, type: 'text/plain; charset=utf-8', body: '/docs\n', headers: { location: '/docs' } }),
    '/openapi.json': once(async () => ({
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(await describe()),
    })),
    '/docs': once(async () => ({
      type: 'text/html; charset=utf-8',
      body: (await loadReference()).referencePage(await describe()),
      headers: { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' },
    })),
    '/docs/style.css': once(() => asset('style.css', 'text/css')),
    '/docs/script.js': once(() => asset('script.js', 'text/javascript')),
  }
}
