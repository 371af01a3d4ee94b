/** What one running marketplace keeps in memory. A process may run several marketplaces; each has its own. */

/** Holds one instance of each class, made when it is first asked for. */
export class Memory {
  readonly #parts = new Map<unknown, unknown>()

  of<Part>(kind: new () => Part): Part {
    const known = this.#parts.get(kind) as Part | undefined
    if (known) return known
    const part = new kind()
    this.#parts.set(kind, part)
    return part
  }
}
