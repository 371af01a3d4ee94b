/** Secrets sealed at rest with the key of the marketplace, and opened for use. Source: A-8. */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import type { Config } from '../config.ts'
import type { World } from '../world/world.ts'

export type Key = Pick<Config, 'secretKey'>

const keyIds = new WeakMap<Buffer, string>()

function keyId(key: Buffer): string {
  const id = keyIds.get(key) ?? createHash('sha256').update(key).digest('hex').slice(0, 8)
  keyIds.set(key, id)
  return id
}

/** Seals a secret for one agent: `keyId.iv.tag.cipher`. AES-256-GCM; the agent's id is bound in. */
export function seal(world: World, { secretKey }: Key, agentId: string, secret: string): string {
  const iv = world.bytes(12)
  const cipher = createCipheriv('aes-256-gcm', secretKey, iv).setAAD(Buffer.from(agentId))
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return [keyId(secretKey), ...[iv, cipher.getAuthTag(), sealed].map(part => part.toString('base64url'))].join('.')
}

/** What was opened lately, by key. */
const opened = new WeakMap<Buffer, Map<string, { agentId: string; secret: string }>>()
const KEPT_OPEN = 1000

/** Opens what `seal` made; throws if it was sealed under another key, for another agent, or was changed. */
export function unseal(config: Key, agentId: string, sealed: string): string {
  const kept = opened.get(config.secretKey) ?? new Map()
  opened.set(config.secretKey, kept)
  const known = kept.get(sealed)
  if (known?.agentId === agentId) return known.secret
  const secret = open(config, agentId, sealed)
  if (kept.size >= KEPT_OPEN) kept.delete(kept.keys().next().value)
  kept.set(sealed, { agentId, secret })
  return secret
}

function open({ secretKey }: Key, agentId: string, sealed: string): string {
  const [id, iv = '', tag = '', text = ''] = sealed.split('.')
  if (id !== keyId(secretKey)) throw new Error('This webhook secret was sealed under another key')
  const decipher = createDecipheriv('aes-256-gcm', secretKey, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(agentId)).setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8')
}
