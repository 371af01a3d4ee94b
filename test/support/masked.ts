/** What differs each time, under names that stay: ids in the order in which they are seen, times, durations, secrets, the address and the version. */
import { version } from '../../src/settings/config.ts'

const ID = /\b(?!whsec|svc)([a-z]+)_[0-9a-f]{32}|\b(exchange)_\d+/g

export class Masked {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /** The id that a name stands for. */
  idOf(name: string): string | undefined {
    return [...this.#names].find(([, known]) => known === name)?.[0]
  }

  in(text: string): string {
    return text
      .replace(ID, (id, kind, exchange) => this.#nameOf(id, kind ?? exchange))
      .replace(/\bwhsec_[\w+/]+=*/g, 'whsec_…')
      .replace(/\bsvc_[0-9a-f]+/g, 'svc_')
      .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{3})?Z)?|\b\d\d:\d\d:\d\d\b/g, 'TIME')
      .replace(/\b\d{4}-\d\d-\d\d\b/g, 'DAY')
      .replace(/\b\d+ (ms|bytes|recomputations)\b/g, 'N $1')
      .replace(/\b\d+ (?:d|h|min|s)(?: \d+ (?:h|min|s))?(?= (?:ahead|behind)\b)/g, 'N h')
      .replace(/\bprocess \d+\b/g, 'process N')
      .replaceAll(process.cwd(), 'FOLDER')
      .replace(/\b(127\.0\.0\.1|localhost):\d{4,}/g, '$1:PORT')
      .replaceAll(version, 'VERSION')
  }

  #nameOf(id: string, kind: string): string {
    const known = this.#names.get(id)
    if (known) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    this.#names.set(id, `${kind}_${count}`)
    return `${kind}_${count}`
  }
}
