/** What is wrong with a request, by field, within bounds: its author needs the first messages, not half a million. */
import { type FieldErrors, invalid } from '../api/failures.ts'

/** @internal A test sends one fault more. */
export const MAX_MESSAGES = 20

export class Faults {
  readonly #errors: FieldErrors = Object.create(null)
  #last: string[] = []
  #told = 0
  #untold = 0

  /** The same message is told once for each field. */
  add(field: string, message: string): void {
    if (this.#told === MAX_MESSAGES) {
      this.#untold++
      return
    }
    this.#errors[field] ??= []
    const messages = this.#errors[field]
    if (messages.includes(message)) return
    messages.push(message)
    this.#last = messages
    this.#told++
  }

  throwIfAny(): void {
    if (this.#told === 0) return
    if (this.#untold > 0) this.#last.push(`and ${this.#untold.toLocaleString('en')} more`)
    throw invalid(this.#errors)
  }
}
