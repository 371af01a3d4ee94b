/** Addresses of Postgres, which may name several hosts: `postgres://user@a,b:5433/market`. */

const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/i

/** Returns one address for each host; none if it is no address of Postgres. */
export function hostsOf(text: string): string[] {
  const [, before, hosts, behind] = FORM.exec(text) ?? []
  if (hosts === undefined) return []
  const all = hosts.split(',').map(host => `${before}${host}${behind}`)
  return all.every(one => URL.canParse(one)) ? all : []
}
