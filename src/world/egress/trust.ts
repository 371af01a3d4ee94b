/** Whom TLS trusts: all that Node trusts, and authorities of our own besides. Source: A-42. */
import { readFileSync } from 'node:fs'
import tls from 'node:tls'

/** Certificates in PEM, one or several to a text. */
export type Pems = string | readonly string[]

/** Made on the first call and kept. When `own` fails, Node's list stands alone. */
export function trustStore(own: Pems | Promise<Pems> = []): () => Promise<tls.SecureContext> {
  const authorities = Promise.resolve(own).catch(() => [])
  let context: Promise<tls.SecureContext> | undefined
  return () => {
    context ??= authorities
      .then(pems => contextWith([pems].flat()))
      .catch(error => {
        context = undefined // a file that could not be read now may be read by the next call
        throw error
      })
    return context
  }
}

// The `ca` option replaces all that Node trusts by itself, NODE_EXTRA_CA_CERTS too; so what it replaces is put back.
function contextWith(authorities: readonly string[]): tls.SecureContext {
  if (authorities.length === 0) return tls.createSecureContext()
  return tls.createSecureContext({ ca: [...trustedByNode(), ...authorities] })
}

function trustedByNode(): readonly string[] {
  // Node 22.15 and later can tell; before that, the environment variable is the only way to know.
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => string[] }
  if (getCACertificates) return getCACertificates('default')
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (!file) return tls.rootCertificates
  try {
    return [...tls.rootCertificates, readFileSync(file, 'utf8')]
  } catch (error) {
    // A list without them would be kept, although a moment later there may be a descriptor free.
    if (/^E[MN]FILE$/.test(String((error as NodeJS.ErrnoException).code))) throw error
    // Node has warned of it at its start, and goes on without.
    return tls.rootCertificates
  }
}
