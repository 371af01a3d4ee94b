/** Finds the endpoint record of a method and path. */
import type { Endpoint } from '../../api/endpoint.ts'
import { endpoints } from '../../api/endpoints/index.ts'

const records: readonly Endpoint[] = Object.values(endpoints)

/** A path without parameters takes precedence. Returns undefined if there is no such endpoint. */
export function endpointAt(method: string, target: string): Endpoint | undefined {
  const asked = segmentsOf(target.split(/[?#]/, 1)[0] ?? '')
  const fits = ({ path }: Endpoint) => {
    const own = segmentsOf(path)
    return own.length === asked.length && own.every((part, at) => part.startsWith(':') || part === asked[at])
  }
  const found = records.filter(record => record.method === method && fits(record))
  return found.sort((a, b) => holes(a) - holes(b))[0]
}

const segmentsOf = (path: string) => path.replace(/\/$/, '').split('/')
const holes = ({ path }: Endpoint) => path.split('/:').length
