/** Who a host name belongs to: the part of it that somebody has registered, by the public suffix list. */
import type { getDomain as GetDomain } from 'tldts'

let getDomain: typeof GetDomain | undefined

/** To be called by a start that is over: the list takes 25 ms to load. Until it is there, a name is its own domain. */
export async function loadDomains(): Promise<void> {
  if (!getDomain) getDomain = (await import('tldts')).getDomain
}

/** `a.b.example.co.uk` → `example.co.uk`; the names that one platform gives to its customers are apart. An address is itself. */
export const domainOf = (hostname: string): string => getDomain?.(hostname, { allowPrivateDomains: true }) ?? hostname
