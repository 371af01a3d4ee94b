/** Reads the items of a stream of server-sent events. */

export interface SentEvent {
  /** `message` unless the stream says otherwise. */
  readonly event: string
  readonly data: string
}

/** Ends when the stream ends. Stopping the iteration closes the connection. */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = parts.pop()!
    for (const part of parts) {
      const event = eventOf(part)
      if (event) yield event
    }
  }
}

/** Returns undefined for a comment, or for a field that is no event. */
function eventOf(part: string): SentEvent | undefined {
  let event = 'message'
  let data: string | undefined
  for (const line of part.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === 'event') event = value
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
  }
  return data === undefined ? undefined : { event, data }
}
