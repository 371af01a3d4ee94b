/** What a verb may wrap its answer in when the data alone does not say enough. */
import type { KeptFile } from './file-kinds.ts'

/** Answers 201, whatever the record's own status. */
export class Created<Data = unknown> {
  readonly data: Data

  constructor(data: Data) {
    this.data = data
  }
}

/** Data that is JSON text already; it goes out as it is. */
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
