/** The certificate authorities that TLS trusts: all of Node's, and additional ones. Source: A-42. */
import { readFileSync } from 'node:fs'
import type * as tls from 'node:tls'

/** Loaded with the first context: 2 ms, which no start has to wait for. */
type Tls = typeof tls

/** Certificates in PEM, one or several per text. */
export type Pems = string | readonly string[]

/**
 * Returns a function that makes the TLS context at its first call and keeps it. If `own` fails, only Node's list is used.
 */
export function trustStore(own: Pems | Promise<Pems> = []): () => Promise<tls.SecureContext> {
  const authorities = Promise.resolve(own).catch(() => [])
  let context: Promise<tls.SecureContext> | undefined
  return () => {
    context ??= authorities
      .then(async pems => contextWith((await import('node:tls')).default, [pems].flat()))
      .catch(error => {
        context = undefined // a file that could not be read now may be read by the next call
        throw error
      })
    return context
  }
}

// The `ca` option replaces everything that Node trusts by default, including NODE_EXTRA_CA_CERTS. So those are added here.
function contextWith(tls: Tls, authorities: readonly string[]): tls.SecureContext {
  if (authorities.length === 0) return tls.createSecureContext()
  return tls.createSecureContext({ ca: [...trustedBy(tls), ...authorities] })
}

function trustedBy(tls: Tls): readonly string[] {
  // Node 22.15 and later return them. Before that, the file has to be read here.
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => string[] }
  if (getCACertificates) return getCACertificates('default')
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (!file) return tls.rootCertificates
  try {
    return [...tls.rootCertificates, readFileSync(file, 'utf8')]
  } catch (error) {
    // Otherwise a list without them would be kept, although a file descriptor may be free a moment later.
    if (/^E[MN]FILE$/.test(String((error as NodeJS.ErrnoException).code))) throw error
    // Node has warned of it at the start and goes on without the file.
    return tls.rootCertificates
  }
}
