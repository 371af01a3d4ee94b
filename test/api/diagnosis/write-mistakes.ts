/** Writes mistakes.json: runs the mistakes in each language, as real programs. `node --import tsx test/api/diagnosis/write-mistakes.ts` */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const common = {
  now: 1_767_225_600_123,
  secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd+x8=',
  previous: 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=',
  other: 'whsec_QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=',
  task: { action: 'deliver', taskId: 'task_1', content: "It's naïve: 1 < 2, “fox” 🦊", price: 5 },
}
const input = JSON.stringify(common)
const lines = (text: string) => text.trimEnd().split('\n')

const python = lines(execFileSync('python3', [at('mistakes.py')], { input, encoding: 'utf8' })).map(line =>
  JSON.parse(line),
)
const script = lines(execFileSync(process.execPath, [at('mistakes.mjs')], { input, encoding: 'utf8' })).map(line =>
  JSON.parse(line),
)
const { secret: SECRET, previous: PREVIOUS, other: OTHER, now, task } = common
const env = { PATH: process.env.PATH, SECRET, PREVIOUS, OTHER, NOW: String(now), BODY: JSON.stringify(task) }
const shell = lines(execFileSync('bash', [at('mistakes.sh')], { env, encoding: 'utf8' })).map(line => {
  const [cause, code, timestamp, signature, body] = line.split('\t') as [string, string, string, string, string]
  const headers = [
    ['X-Service-Timestamp', timestamp],
    ['X-Service-Signature', signature],
  ]
  return {
    language: 'shell',
    cause: cause === 'null' ? null : cause,
    code: Buffer.from(code, 'base64').toString(),
    headers,
    body,
  }
})
const requests = [...python, ...script, ...shell]
const { task: _, ...values } = common
writeFileSync(at('mistakes.json'), `${JSON.stringify({ ...values, requests }, null, 2)}\n`)
console.log(`${requests.length} requests`)
