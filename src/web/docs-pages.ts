/** The pages that describe the interface: `/openapi.json` for programs, `/docs` for people, to which `/` leads. Source. */
import type { Endpoint } from '../api/endpoint.ts'
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
  // Whoever checks a page in a browser reads /robots.txt in its name.
  "connect-src 'self'",
].join('; ')

/** Loaded late: a start need not wait for what few simulators are asked for. A deployment loads it ahead. */
export async function loadReference() {
  const [{ openApiInSteps }, { referencePage }] = await Promise.all([
    import('../api/openapi/openapi.ts'),
    import('./docs-html.ts'),
  ])
  return { openApiInSteps, referencePage }
}

/** Kept once it is made: a file that could not be read, as no descriptor was free, is read at the next request. */
function kept<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined
  return () => {
    made ??= make().catch(error => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Each page is made at its first request, because the base URL may be known only once the server listens. */
export function contractPages(
  endpoints: Readonly<Record<string, Endpoint>>,
  config: Config,
  read = readAsset,
): Record<string, WebPage> {
  const { version, mode } = config
  const front = mode === 'serve' ? '/agents' : '/docs'
  const describe = kept(async () => {
    const { openApiInSteps } = await loadReference()
    const steps = openApiInSteps({ endpoints, version, baseUrl: config.baseUrl, mode })
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      await new Promise(resolve => setImmediate(resolve)) // others have their turn
    }
  })
  const once = (make: () => Promise<PageReply>): WebPage =>
    kept(async () => {
      const made = await make()
      return { ...made, body: Buffer.from(made.body as string) } // so no request encodes it anew
    })
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
