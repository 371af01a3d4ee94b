// engines: embedded; process: shared
/** `sign` and `verify`: one makes what the other finds right, and says what is wrong with anything else. */
import { exec } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sign, verify } from '../../src/api/signature.ts'
import { listen } from '../support/listen.ts'
import { answerOf, COMMAND, inFolder, run, typeInto } from './program.ts'

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const BODY = '{"action":"message","content":"It\'s naïve\\n"}\n'
const AT = '1767225600000'

const env = { MARKETPLACE_WEBHOOK_SECRET: SECRET }

function files(folder: string) {
  writeFileSync(join(folder, 'body.json'), BODY)
  writeFileSync(join(folder, 'secret.txt'), `${SECRET}\n`)
}

test(
  'what sign prints is right for verify, from files, from stdin and from a prompt',
  inFolder(async folder => {
    files(folder)
    const signed = await run(['sign', '--file', 'body.json', '--secret-file', 'secret.txt'], folder)
    assert.is(signed.code, 0, signed.err)
    const lines = signed.out.trimEnd().split('\n')
    assert.match(lines[0]!, /^X-Service-Timestamp: \d{13}$/)
    const right = await run(['verify', '--header', ...lines], folder, env, BODY)
    assert.is(right.code, 0, right.err)
    assert.match(right.out, `✔ The signature is right, over a body of ${Buffer.byteLength(BODY)} bytes`)
    assert.is(right.err, '')
    const again = await answerOf(['sign', '--file', 'body.json', '--timestamp', AT, '--secret', SECRET], folder)
    assert.equal(again.data.headers, {
      'X-Service-Timestamp': AT,
      'X-Service-Signature': sign(SECRET, Number(AT), BODY),
    })
    assert.match(again.err, "--secret stays in the shell's history")
    const typed = await typeInto(`${COMMAND} sign --file body.json`, folder, [
      ['The webhook secret (whsec_…)', `${SECRET}\n`],
    ])
    assert.match(typed, /X-Service-Signature: [0-9a-f]{64}/)
  }),
)

test(
  'verify says why a signature is wrong, with exit code 3 and what helps',
  inFolder(async folder => {
    files(folder)
    const signature = sign(SECRET, Number(AT), BODY.trimEnd())
    const given = ['verify', '--file', 'body.json', '--secret-file', 'secret.txt', '--timestamp', AT]
    const wrong = await run([...given, '--any-age', '--signature', signature], folder)
    assert.is(wrong.code, 3)
    assert.match(wrong.out, /^✖ What was signed lacks the line break at the end of the body\.\n$/)
    assert.match(wrong.err, 'Sign what is sent to the last byte')
    const old = await answerOf([...given, '--signature', sign(SECRET, Number(AT), BODY)], folder)
    assert.is(old.code, 3)
    assert.is(old.data.verified, false)
    assert.is(old.data.diagnosis.cause, 'stale')
    const unlike = await answerOf([...given, '--any-age', '--signature', '0'.repeat(64)], folder)
    assert.is(unlike.data.diagnosis.certainty, 'likely')
    for (const { data } of [old, unlike]) assert.not.ok(JSON.stringify(data).includes(SECRET.slice(6, 20)))
    const kept = { MARKETPLACE_WEBHOOK_SECRET: `"${SECRET}"` }
    const quoted = await run(
      ['verify', '--any-age', '-H', `x-service-timestamp:${AT}`, `X-Service-Signature:${signature}`],
      folder,
      kept,
      BODY.trimEnd(),
    )
    assert.match(quoted.out, 'The key was the given secret without its quotes')
  }),
)

test(
  'the curl line of sign sends the very bytes, whatever is in them',
  inFolder(async folder => {
    files(folder)
    const judged: boolean[] = []
    const server = await listen(async (request, response) => {
      const body = Buffer.concat(await request.toArray())
      const [timestamp, signature] = ['x-service-timestamp', 'x-service-signature'].map(name => request.headers[name])
      judged.push(verify({ secret: SECRET, timestamp, signature, body, now: Date.now() }).ok)
      response.end()
    })
    const send = async (args: string[], input: string) => {
      const { out } = await run(['sign', '--curl', `${server.url}/webhook`, ...args], folder, env, input)
      await promisify(exec)(out, { cwd: folder })
    }
    try {
      await send(['--file', 'body.json'], '')
      await send([], `@${BODY}$HOME "\`'`)
    } finally {
      await server.close()
    }
    assert.equal(judged, [true, true])
  }),
)

const refused: [name: string, args: string[], words: string, input?: string][] = [
  ['verify without a signature', ['verify', '--file', 'body.json'], 'Which signature?'],
  ['a line that is no header', ['verify', '--header', 'x'], "--header takes a line like 'X-Service-Timestamp:"],
  ['no secret', ['sign', '--file', 'body.json'], 'Which secret? Give --secret-file secret.txt'],
  ['two secrets', ['sign', '--secret', 'a', '--secret-file', 'b'], 'both name a secret'],
  ['a file that is not there', ['sign', '--file', 'no.json', '--secret-file', 'secret.txt'], 'there is no such file'],
  ['a secret that is not there', ['sign', '--secret-file', 'no.txt'], "--secret-file: no.txt can't be read"],
  ['seconds', ['sign', '--timestamp', '1767225600'], 'milliseconds, 13 digits'],
  ['bytes in a command', ['sign', '--secret-file', 'secret.txt', '--curl', 'http://x'], 'save it, and name it', '\0'],
]

for (const [name, args, words, input] of refused) {
  test(
    `${name} is refused with exit code 2`,
    inFolder(async folder => {
      files(folder)
      const { code, out, err } = await run(args, folder, {}, input)
      assert.is(code, 2, out)
      assert.match(err, words)
      assert.is(out, '')
    }),
  )
}

test.run()
