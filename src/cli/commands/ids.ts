/**
 * Prints what completes an id. The scripts of `marketplace completion` start it at a tabulator, so it loads next to nothing, ends in
 * time whatever happens, and prints nothing but ids. Source: A-251.
 */
import { type ClientRequest, get, type IncomingHttpHeaders } from 'node:http'
import { get as getTls } from 'node:https'
import { locate, type Person, type Target } from '../connection/target.ts'
import { createUi, plain } from '../output/ui.ts'

/** Somebody waits at the keyboard. An answer takes a tenth of that where a machine has time. */
const PATIENCE_MS = 500
const MOST_BYTES = 2 ** 20
const MOST_IDS = 100

type Item = Readonly<Record<string, unknown>>

/** The second word is what is asked, `person:path:field:about` for each list. The lines are ids, with a tabulator before what they are about. */
export async function main([, asked = '']: readonly string[]): Promise<number> {
  setTimeout(() => process.exit(0), PATIENCE_MS).unref()
  const shown = new Map<string, string>()
  await Promise.all(
    asked.split(' ').map(async word => {
      const [person, path = '', field = '', about = ''] = word.split(':')
      for (const item of await itemsAt(person as Person, path).catch(() => []))
        if (shown.size < MOST_IDS && item[field]) shown.set(plain(`${item[field]}`), plain(`${item[about] ?? ''}`))
    }),
  )
  const ui = createUi()
  for (const [id, about] of shown) ui.raw(`${id}\t${about.slice(0, 60)}`)
  return 0
}

/** Sends a key or a session to the marketplace alone that it was made for, as every command does. */
async function itemsAt(person: Person, path: string): Promise<readonly Item[]> {
  const found = locate({}, person)
  if (found.madeFor) {
    const { headers } = await answer(found, '/healthz', {})
    if (headers['x-service-instance'] !== found.madeFor.instance) return []
  }
  const { key, session } = found
  const credential = key ? { authorization: `Bearer ${key}` } : session ? { cookie: session.cookie } : {}
  const { data } = JSON.parse((await answer(found, path, credential)).body) as { data: Item | readonly Item[] }
  return (Array.isArray(data) ? data : Object.values(data).find(Array.isArray)) ?? []
}

function answer({ url }: Target, path: string, headers: Record<string, string>) {
  const send = url.startsWith('https:') ? getTls : get
  return new Promise<{ headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const request: ClientRequest = send(url + path, { headers, agent: false }, response => {
      let body = ''
      response.setEncoding('utf8').on('data', chunk => {
        body += chunk
        if (body.length > MOST_BYTES) request.destroy(new Error('too long'))
      })
      response.on('end', () => resolve({ headers: response.headers, body })).on('error', reject)
    })
    request.on('error', reject)
  })
}
