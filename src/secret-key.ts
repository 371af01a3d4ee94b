/** The key that seals secrets at rest: where it comes from, and the proof that it is the right one. Source: D8. */
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { UsageError } from './config.ts'
import { seal, unseal } from './market/secrets.ts'
import { type Db, StoreError } from './store/db.ts'
import type { World } from './world/world.ts'

const KEY_BYTES = 32
const PROOF = 'secret_key_check'

export interface SecretKeySource {
  /** Base64 of 32 bytes; stands above the file. */
  given: string | undefined
  /** The database's file; null makes a key that lives as long as the process. */
  file: string | null
}

/** The key that was given, or the one in `<file>.key`, which is made (0600) when it is missing. */
export async function secretKeyFor({ given, file }: SecretKeySource): Promise<Buffer> {
  if (given !== undefined) return decoded(given, () => new UsageError(`MARKETPLACE_SECRET_KEY ${WANTED}`))
  if (file === null) return randomBytes(KEY_BYTES)
  const path = `${file}.key`
  const made = randomBytes(KEY_BYTES)
  try {
    await writeFile(path, `${made.toString('base64')}\n`, { flag: 'wx', mode: 0o600 })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return decoded(await readFile(path, 'utf8'), () => new StoreError(`${path} ${WANTED}`))
}

/** Throws a StoreError if the database was used with another key. The first key it sees is its own from then on. */
export async function proveSecretKey(db: Db, world: World, secretKey: Buffer): Promise<void> {
  await db.write(async tx => {
    const row = await tx.get<{ value: string }>('SELECT value FROM settings WHERE name = $1', [PROOF])
    if (!row)
      await tx.run('INSERT INTO settings (name, value) VALUES ($1, $2)', [
        PROOF,
        seal(world, { secretKey }, PROOF, PROOF),
      ])
    else if (!opens(secretKey, row.value)) throw wrongKey()
  })
}

const WANTED = 'must hold 32 bytes in base64, as `openssl rand -base64 32` prints them.'

const wrongKey = () =>
  new StoreError(
    'The secret key is not the one this database was made with, so its webhook secrets could not be read. ' +
      'Set MARKETPLACE_SECRET_KEY, or put the .key file beside the database, as it was.',
  )

function decoded(text: string, fault: () => Error): Buffer {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== KEY_BYTES) throw fault()
  return key
}

function opens(secretKey: Buffer, sealed: string): boolean {
  try {
    return unseal({ secretKey }, PROOF, sealed) === PROOF
  } catch {
    return false
  }
}
