/** Statements that are asked together leave together: a write to a socket costs more than what it carries. */
import type { Duplex } from 'node:stream'

const gathering = new WeakSet<Duplex>()

/** What is sent on this stream until this turn of the event loop is over goes as one piece. */
export function gather(stream: Duplex): void {
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}
