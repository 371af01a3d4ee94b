/** Wrappers for what a verb returns, where the data alone is not enough. */
import type { KeptFile } from './file-kinds.ts'

/** The response has status 201, whatever the record says. */
export class Created<Data = unknown> {
  readonly data: Data

  constructor(data: Data) {
    this.data = data
  }
}

/** Data that is JSON text already and is sent as it is. */
export class Json {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The bytes of a file, outside the envelope. */
export class Download {
  readonly file: KeptFile

  constructor(file: KeptFile) {
    this.file = file
  }
}
