/** Encrypts secrets at rest with the key of the marketplace, and decrypts them for use. Source: A-8. */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import type { Config } from '../settings/config.ts'
import { boundedCache } from '../shared/bounded-cache.ts'
import type { World } from '../world/world.ts'

/** The first key seals. What others have sealed is opened too, while the key is rotated. */
export type Key = Pick<Config, 'secretKey' | 'otherSecretKeys'>

/** Where the keys are kept, if the program keeps them itself. */
export interface KeyFile {
  /** Puts a new key before the others. Durable when it resolves. */
  begin(): Promise<void>
  /** Keeps the first key alone. The others are set aside, as backups need them. */
  end(): Promise<void>
}

export const keyId = (key: Buffer) => createHash('sha256').update(key).digest('hex').slice(0, 8)

export const keysOf = ({ secretKey, otherSecretKeys = [] }: Key) => [secretKey, ...otherSecretKeys]

/**
 * Seals a secret for one agent with AES-256-GCM; the agent's id is authenticated with it. Returns
 * `keyId.iv.tag.ciphertext`.
 */
export function seal(world: World, { secretKey }: Pick<Key, 'secretKey'>, agentId: string, secret: string): string {
  const iv = world.bytes(12)
  const cipher = createCipheriv('aes-256-gcm', secretKey, iv).setAAD(Buffer.from(agentId))
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return [keyId(secretKey), ...[iv, cipher.getAuthTag(), sealed].map(part => part.toString('base64url'))].join('.')
}

interface Opened {
  readonly secretKey: Buffer
  readonly agentId: string
  readonly secret: string
}

/** By the sealed text. Each webhook needs its secret: opening takes 6 µs, finding it here 0.02. */
const opened = boundedCache<Opened>({ maxEntries: 1_000 })

/** Opens what `seal` returned. Throws if it was sealed with none of the keys or for another agent, or was changed. */
export function unseal(key: Key, agentId: string, sealed: string): string {
  const known = opened.get(sealed)
  if (known?.agentId === agentId && keysOf(key).includes(known.secretKey)) return known.secret
  const secretKey = keysOf(key).find(one => sealed.startsWith(`${keyId(one)}.`))
  if (!secretKey) throw new Error('This webhook secret was sealed under another key')
  const secret = open(secretKey, agentId, sealed)
  opened.set(sealed, { secretKey, agentId, secret })
  return secret
}

function open(secretKey: Buffer, agentId: string, sealed: string): string {
  const [, iv = '', tag = '', text = ''] = sealed.split('.')
  const decipher = createDecipheriv('aes-256-gcm', secretKey, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(agentId)).setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8')
}
