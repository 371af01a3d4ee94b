// engines: embedded; process: shared
/** Secrets at rest: sealed for one owner under one key. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seal, unseal } from '../../../src/market/sealing.ts'
import { callbackSecrets, makeSecret } from '../../../src/market/webhooks/secrets.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'

const world = createVirtualWorld()
const config = { secretKey: Buffer.alloc(32, 1) }
const other = { secretKey: Buffer.alloc(32, 2) }

test('a secret is 32 bytes in base64 behind its mark, another each time', () => {
  const [one, two] = [makeSecret(world), makeSecret(world)]
  assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.is.not(one, two)
})

test('what is sealed opens for its owner under its key, as often as it is asked, and for nobody else', () => {
  const sealed = seal(world, config, 'agt_1', 'whsec_ä')
  assert.match(sealed, /^[0-9a-f]{8}(\.[\w-]+){3}$/)
  assert.not(sealed.includes('whsec'))
  assert.is.not(seal(world, config, 'agt_1', 'whsec_ä'), sealed, 'never the same bytes twice')
  assert.throws(() => unseal(config, 'agt_2', sealed))
  for (let n = 0; n < 3; n++) assert.is(unseal(config, 'agt_1', sealed), 'whsec_ä')
  assert.throws(() => unseal(config, 'agt_2', sealed), undefined, 'also when it was opened before')
  assert.throws(() => unseal(other, 'agt_1', sealed), /^This webhook secret was sealed under another key$/)
})

test('any part of it that is changed keeps it closed', () => {
  const sealed = seal(world, config, 'agt_1', 'whsec_x')
  for (const at of [0, 1, 2, 3]) {
    const parts = sealed.split('.')
    parts[at] = (parts[at]!.startsWith('A') ? 'B' : 'A') + parts[at]!.slice(1)
    assert.throws(() => unseal(config, 'agt_1', parts.join('.')), undefined, String(at))
    assert.throws(() => unseal(config, 'agt_1', parts.slice(0, at).join('.')))
  }
})

test('a thousand that were opened lately are known, and the ones before them open all the same', () => {
  const all = Array.from({ length: 1_100 }, (_, n) => seal(world, config, `agt_${n}`, `secret ${n}`))
  for (const _ of [1, 2]) {
    for (const [n, sealed] of all.entries()) assert.is(unseal(config, `agt_${n}`, sealed), `secret ${n}`)
  }
})

test('an old secret counts until its time is over, the new one always', () => {
  const [now, old] = ['now', 'old'].map(text => seal(world, config, 'agt_1', text))
  const secrets = (agent: object, at: number) =>
    callbackSecrets(config, { id: 'agt_1', secret: now!, oldSecret: old!, oldSecretUntil: 100, ...agent }, at)
  assert.equal(secrets({}, 99), ['now', 'old'])
  assert.equal(secrets({}, 100), ['now'])
  assert.equal(secrets({ oldSecretUntil: null }, 0), ['now'])
  assert.equal(secrets({ oldSecret: null }, 0), ['now'])
  assert.equal(secrets({ secret: null }, 0), ['old'])
  assert.equal(secrets({ secret: null, oldSecret: null, oldSecretUntil: null }, 0), [])
})

test.run()
