/** Ids, secrets and tokens of one side under names that both sides share: by kind, in the order of first appearance. */

/**
 * Whatever chance made: ids of every kind, keys and their beginnings, webhook secrets, sessions, slugs without a name,
 * secrets of authenticators, recovery codes.
 */
const MADE =
  /(?:([a-z]+)_[0-9a-f]{32}|(svc)_[0-9a-f]{48}|(svc_)[0-9a-f]{8}|(whsec)_[A-Za-z0-9+/]{43}=|(session)=[\w-]{43}|(agent-)[0-9a-f]{6}|\b[A-Z2-7]{32}\b|\b[a-z2-7]{4}(?:-[a-z2-7]{4}){3}\b)(?![0-9a-f])/g

const NAME = /‹[^ ›]+ \d+›/g

export class Names {
  readonly #names = new Map<string, string>()
  readonly #made = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /** The text with a name in the place of everything that chance made. */
  named(text: string): string {
    return text.replace(MADE, (made: string, ...kinds: (string | undefined)[]) =>
      this.nameOf(made, kinds.slice(0, 6).find(kind => kind !== undefined) ?? 'code'),
    )
  }

  /** The text as this side knows it. A name that it never heard stays. */
  made(text: string): string {
    return text.replace(NAME, name => this.#made.get(name) ?? name)
  }

  nameOf(made: string, kind: string): string {
    const known = this.#names.get(made)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `‹${kind} ${count}›`
    this.#names.set(made, name)
    this.#made.set(name, made)
    return name
  }
}

/** `usr` of `‹usr 3›`; undefined for what is no name. */
export const kindOf = (name: unknown): string | undefined =>
  typeof name === 'string' ? /^‹([^ ›]+) \d+›$/.exec(name)?.[1] : undefined
