/** The pages that describe the interface: `/openapi.json` for programs, `/docs` for people, to which `/` leads. Source. */
import type { Endpoint } from '../api/endpoint.ts'
import type { OpenApi } from '../api/openapi/openapi.ts'
import type { Config } from '../settings/config.ts'
import { readAsset } from './assets.ts'
import type { PageReply, WebPage } from './server.ts'

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
  read = readAsset,
): Record<string, WebPage> {
  const { version, mode } = config
  const front = mode === 'serve' ? '/agents' : '/docs'
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
      if (page === undefined) {
        const made = await make()
        page = { ...made, body: Buffer.from(made.body as string) } // so no request encodes it anew
      }
      return page
    }
  }
  const asset = async (name: string, type: string): Promise<PageReply> => ({
    type: `${type}; charset=utf-8`,
    body: await read(`reference/${name}`),
  })
  return {
    // Who opens the address of a marketplace in a browser wants to know what is there: a visitor its agents, who builds one its interface.
    '/': () => ({ status: 302, type: 'text/plain; charset=utf-8', body: `${front}\n`, headers: { location: front } }),
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
