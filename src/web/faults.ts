/** Collects what is wrong with a request, by field. The number of messages is bounded; the first few are enough. */
import { type FieldErrors, invalid } from '../api/failures.ts'
import { grouped } from '../api/grouped.ts'

/** @internal A test sends one fault more. */
export const MAX_MESSAGES = 20

export class Faults {
  readonly #errors: FieldErrors = Object.create(null)
  #last: string[] = []
  #count = 0
  #omitted = 0

  /** Adds a message. A field gets the same message only once. */
  add(field: string, message: string): void {
    if (this.#count === MAX_MESSAGES) {
      this.#omitted++
      return
    }
    this.#errors[field] ??= []
    const messages = this.#errors[field]
    if (messages.includes(message)) return
    messages.push(message)
    this.#last = messages
    this.#count++
  }

  throwIfAny(): void {
    if (this.#count === 0) return
    if (this.#omitted > 0) this.#last.push(`and ${grouped(this.#omitted)} more`)
    throw invalid(this.#errors)
  }
}
