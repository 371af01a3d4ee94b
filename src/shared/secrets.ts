/** Secrets in texts: cut short where somebody reads them, masked where a program does. What is masked already stays as it is. */

/** Wherever it stands, and also with `/` escaped, as some write JSON. */
export const TOKEN = /(whsec_|svc_)(?!X{8})(?:[A-Za-z0-9+/_=-]|\\+\/){8,}/g
/** A password in a URL; `password` stands there where it is explained. */
const IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"']*:)(?!X+@|password@)[^\s/@"']+(?=@)/gi
const BEARER = /\b(bearer +)(?!X{8})[\w.~+/=-]{8,}/gi

/** Letters by which a token is told apart from others. */
const TELLING = 4

/** For people, and for logs. `given`: those that the reader has. */
export const cutShort = (text: string, given: ReadonlySet<string> = new Set()): string =>
  text
    .replace(TOKEN, (all, first: string) => (given.has(all) ? all : `${all.slice(0, first.length + TELLING)}…`))
    .replace(IN_URL, '$1…')
    .replace(BEARER, (all, first: string) => (given.has(all.slice(first.length)) ? all : `${first}…`))

const hidden = (secret: string) => 'X'.repeat(secret.length)
const keeping = (all: string, first: string) => first + hidden(all.slice(first.length))

/**
 * For a history, and so for every report: a saved one is an artifact of a pipeline, which many can read. What is masked keeps its form and
 * its length, so that a check still sees that an agent gives one away. `known`: what is a secret whatever it looks like.
 */
export function masked(text: string, known: Iterable<string> = []): string {
  let shown = text.replace(TOKEN, keeping).replace(IN_URL, keeping).replace(BEARER, keeping)
  for (const secret of known) if (shown.includes(secret)) shown = shown.replaceAll(secret, hidden(secret))
  return shown
}

/** Every text in a value is masked, the names of its fields are not. */
export function maskedAll<Value>(value: Value, known: readonly string[] = []): Value {
  const mask = (one: unknown): unknown => {
    if (typeof one === 'string') return masked(one, known)
    if (Array.isArray(one)) return one.map(mask)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, mask(inner)]))
  }
  return mask(value) as Value
}

const NAMED_SECRET = /secret|passw|token|credential|(?:^|_)key$|api_?key/i
const LEAST_LENGTH = 8

/** Values of an environment whose names say that they are secrets. */
export const secretsIn = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= LEAST_LENGTH && NAMED_SECRET.test(name) ? [value] : [],
  )
