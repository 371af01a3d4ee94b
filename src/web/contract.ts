/** The contract as pages: what this marketplace offers, for programs. Source: D7, D45. */
import type { Endpoint } from '../api/endpoint.ts'
import type { Config } from '../config.ts'
import type { WebPage } from './server.ts'

/** Made at the first look, as the public address may be known only once the server listens. */
export function contractPages(endpoints: Readonly<Record<string, Endpoint>>, config: Config): Record<string, WebPage> {
  let text: Promise<string> | undefined
  const make = async () => {
    const { openApi } = await import('../api/openapi.ts')
    const { version, baseUrl, mode } = config
    return JSON.stringify(openApi({ endpoints, version, baseUrl, mode }))
  }
  return {
    '/openapi.json': async () => {
      text ??= make()
      return { type: 'application/json; charset=utf-8', body: await text }
    },
  }
}
