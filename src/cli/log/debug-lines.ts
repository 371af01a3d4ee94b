/** Debug lines on stderr: for programs JSON, for people `name=value`. */
import { type LogLevel, wantedDebug } from '../../settings/config.ts'
import { type Debug, type DebugSinks, type DebugTopic, debugTopics } from '../../shared/debug.ts'
import { plain, write } from '../output/ui.ts'

/** For `MARKETPLACE_DEBUG` and the log level, which asks for every topic if it is `debug`. */
export function debugLines(level: LogLevel, json: boolean): DebugSinks {
  const topics = level === 'debug' ? debugTopics : wantedDebug().topics
  return Object.fromEntries(topics.map(topic => [topic, sinkOf(topic, json)]))
}

function sinkOf(topic: DebugTopic, json: boolean): Debug {
  return line => {
    const time = new Date()
    const text = json
      ? JSON.stringify({ level: 'debug', time: time.toISOString(), type: 'debug', topic, ...line })
      : `${time.toLocaleTimeString('en-GB')} ${topic.padEnd(8)} ${plain(pairs(line))}`
    write(process.stderr, `${text}\n`, { json })
  }
}

const pairs = (line: object) =>
  Object.entries(line)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`,
    )
    .join(' ')
