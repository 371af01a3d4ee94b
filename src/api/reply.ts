/** Wrappers for what a verb returns, where the data alone is not enough. */
import type { KeptFile } from './file-kinds.ts'

/** The response has status 201, whatever the record says. */
export class Created<Data = unknown> {
  readonly data: Data

  constructor(data: Data) {
    this.data = data
  }
}

/** Data that is JSON text already and is sent as it is, or will be when it is first sent. */
export class Json {
  #text: string | undefined
  #data: unknown
  readonly #length: number

  /** `later`: what the text is made of, and how long it will be. */
  constructor(text: string | undefined, later: { readonly data: unknown; readonly length: number } = NOTHING) {
    this.#text = text
    this.#data = later.data
    this.#length = later.length
  }

  get text(): string {
    if (this.#text === undefined) {
      this.#text = JSON.stringify(this.#data)
      this.#data = undefined
    }
    return this.#text
  }

  /** What it says. */
  get data(): unknown {
    return this.#text === undefined ? this.#data : JSON.parse(this.#text)
  }

  get length(): number {
    return this.#text?.length ?? this.#length
  }
}

const NOTHING = { data: null, length: 0 }

/** Something to follow: items with rising numbers, of which the oldest may be gone. */
export interface Feed {
  /** The number of the oldest item that is kept, and of the newest; without items, of the next and of the last. */
  readonly oldest: number
  readonly last: number
  /** Returns the first item after this number; undefined if there is none yet. */
  next(after: number): FeedItem | undefined
  /** Calls `wake` when there is a new item. Returns how to end that. */
  watch(wake: () => void): () => void
}

interface FeedItem {
  readonly number: number
  /** JSON. */
  readonly text: string
}

interface Following {
  readonly feed: Feed
  /** The stream begins after this number. */
  readonly after: number
  /** false: the stream ends when it has sent what is there. */
  readonly follows: boolean
  /** The session, key or account that it counts for. */
  readonly owner: string
  /**
   * Its items only say what to read anew. Who has missed any is told to read all anew, not how many; it ends after a while. `partial`: other
   * instances have some that are not in it.
   */
  readonly hints?: 'whole' | 'partial'
}

/** The items of a feed as server-sent events, outside the envelope. */
export class EventStream {
  readonly feed: Feed
  readonly after: number
  readonly follows: boolean
  readonly owner: string
  readonly hints: Following['hints']

  constructor({ feed, after, follows, owner, hints }: Following) {
    this.feed = feed
    this.after = after
    this.follows = follows
    this.owner = owner
    this.hints = hints
  }
}

/** The bytes of a file, outside the envelope. */
export class Download {
  readonly file: KeptFile

  constructor(file: KeptFile) {
    this.file = file
  }
}
