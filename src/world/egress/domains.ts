/** Finds the registered domain of a host name, by the public suffix list. */
import type { getDomain as GetDomain } from 'tldts'

let getDomain: typeof GetDomain | undefined

/** Loads the list, which takes 25 ms, so call it after the start. Until it is loaded, each name counts as its own domain. */
export async function loadDomains(): Promise<void> {
  if (!getDomain) getDomain = (await import('tldts')).getDomain
}

/**
 * `a.b.example.co.uk` → `example.co.uk`. Names that a platform gives to different customers count as different domains. An
 * IP address is returned as it is.
 */
export const domainOf = (hostname: string): string => getDomain?.(hostname, { allowPrivateDomains: true }) ?? hostname
