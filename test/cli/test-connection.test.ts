// engines: embedded; process: shared
/** test-connection shows each check as it ends, with its own advice. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders } from '../../src/api/signature.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'
import { inFolder, start } from './program.ts'

/** Answers 200, and leaves the callback to the test. */
async function silentAgent() {
  const callbacks: string[] = []
  const { url, close } = await listen(async (request, response) => {
    callbacks.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).data.callbackUrl)
    response.end()
  })
  return { url: `${url}/webhook`, callbacks, close }
}

function callBack(url: string, secret: string): Promise<unknown> {
  const body = JSON.stringify({ action: 'accept' })
  const headers = { 'content-type': 'application/json', ...signatureHeaders(secret, Date.now(), body) }
  return fetch(url, { method: 'POST', headers, body })
}

/** Starts another while a test of the agent is running, such as that of dev itself. */
async function tested(folder: string, onShown: (out: string) => void) {
  for (;;) {
    const { child, ended } = start(['test-connection', 'quiet'], folder)
    let shown = ''
    child.stdout!.on('data', chunk => {
      shown += chunk
      onShown(shown)
    })
    const { code, out, err } = await ended
    if (err.includes('test of this agent is running')) continue
    assert.is(code, 0, err)
    return { out, err }
  }
}

test(
  'with the dev of the folder, a check is shown while the next one is waited for',
  inFolder(async folder => {
    const agent = await silentAgent()
    const dev = start(['dev', '--json', '--port', '0', '--agent', `quiet=${agent.url}`], folder)
    const { agents } = JSON.parse(await dev.firstLine)
    const { webhookSecret } = agents.find(({ slug }: { slug: string }) => slug === 'quiet')
    const { out, err } = await tested(folder, () => {})
    assert.match(out, /^✔ 1 .*\n✔ 2 .*\n✔ 3 .*\n✔ 4 .*\n! 5 callback +No callback arrived.*\n$/)
    assert.is(err.match(/After its 200 the agent must POST/g)?.length, 1)

    // dev waits two seconds for the callback. On a slow machine one that follows what is shown may come too late, but not each time.
    const followed = async () => {
      let isCalled = false
      const { out } = await tested(folder, shown => {
        if (!/^✔ 4 /m.test(shown) || isCalled) return
        isCalled = true
        callBack(agent.callbacks.at(-1)!, webhookSecret).catch(() => {})
      })
      return /^✔ 5 /m.test(out)
    }
    await until('a callback that is sent once the fourth check is shown', followed)
    dev.child.kill('SIGTERM')
    await dev.ended
    await agent.close()
  }),
)

test.run()
