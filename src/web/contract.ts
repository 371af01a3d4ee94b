/** The contract as pages: what this marketplace offers, for programs. Source: D7, D45. */
import type { Endpoint } from '../api/endpoint.ts'
import { openApi } from '../api/openapi.ts'
import type { Config } from '../config.ts'
import type { WebPage } from './server.ts'

/** Made at the first look, as the public address may be known only once the server listens. */
export function contractPages(endpoints: Readonly<Record<string, Endpoint>>, config: Config): Record<string, WebPage> {
  let text: string | undefined
  return {
    '/openapi.json': () => {
      const { version, baseUrl, mode } = config
      text ??= JSON.stringify(openApi({ endpoints, version, baseUrl, mode }))
      return { type: 'application/json; charset=utf-8', body: text }
    },
  }
}
