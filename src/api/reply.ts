/** What a verb may wrap its answer in when the data alone does not say enough. */

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
