/** Refusals name requests of the interface, and whoever has typed a command types the next one: says each request as the command that makes it. */
import { endpoints } from '../../api/endpoints/index.ts'
import type { CommandRecord, CommandTable } from './command.ts'
import { wordFor } from './filled-by.ts'

/** Such as `PUT /api/admin/users/{id} with banned: true`. */
const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE) (\/api\/[\w{}/-]+)(?: with (\w+): true\b)?/g

/** `typed`: makes a line to type from the words of a command. A request that no command makes stays as it is. */
export async function inCommands(
  text: string,
  typed: (words: string) => string,
  wholeTable: () => Promise<Pick<CommandTable, 'chapters'>>,
): Promise<string> {
  if (text.search(REQUEST) < 0) return text
  const records = (await wholeTable()).chapters.flatMap(([, records]) => records)
  return text.replace(REQUEST, (request, method: string, path: string, field?: string) => {
    const record = records.find(one => one.endpoints?.some(name => isAt(endpoints[name], method, path)))
    return record ? typed(lineOf(record, path, field)) : request
  })
}

const isAt = (endpoint: { readonly method: string; readonly path: string }, method: string, path: string) =>
  endpoint.method === method && fixedIn(endpoint.path) === fixedIn(path)

/** What a path has at the places of its ids does not tell endpoints apart. */
const fixedIn = (path: string) => path.replaceAll(/\{\w+\}|:\w+/g, '{}')

/** Arguments stand as in the examples of the help: `<user-id>` is USER_ID. */
function lineOf(record: CommandRecord, path: string, field: string | undefined): string {
  const places = path.match(/\{\w+\}/g)?.length ?? 0
  const words = (record.takes ?? [])
    .slice(0, places)
    .map(one => one.replaceAll(/\W+/g, ' ').trim().replaceAll(' ', '_').toUpperCase())
  return [record.name, ...words, ...(field === undefined ? [] : [wordFor(record, {}, field)])].join(' ')
}
