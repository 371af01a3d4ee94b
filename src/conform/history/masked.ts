/**
 * Secrets do not get into a history, and so into no report: a saved one is an artifact of a pipeline, which many can read. What is masked
 * keeps its form and its length, so that a check still sees that an agent gives one away.
 */

const TOKEN = /\b(whsec_|svc_)[A-Za-z0-9+/_=-]{8,}/g
/** A password in a URL. */
const IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"']*:)[^\s/@"']+(?=@)/gi
const BEARER = /\b(bearer +)[\w.~+/=-]{8,}/gi

const hidden = (secret: string) => 'X'.repeat(secret.length)
const keeping = (all: string, first: string) => first + hidden(all.slice(first.length))

/** What looks like a secret, and those that are known to be some. */
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
