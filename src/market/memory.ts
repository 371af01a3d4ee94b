/** What one running marketplace keeps in memory. A process may hold several marketplaces: each has its own. */

/** Made when it is first asked for; everybody after that gets the same. */
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
