/** A certificate for a sink that goes by many names, and the authority that signed it. */
import { generate } from 'selfsigned'

const common = { keyType: 'ec', algorithm: 'sha256' } as const
const named = (value: string) => [{ name: 'commonName', value }]

export async function makeCertificate(names: readonly string[]) {
  const authority = await generate(named('Benchmark authority'), {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const leaf = await generate(named('localhost'), {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [{ name: 'subjectAltName', altNames: names.map(value => ({ type: 2, value })) }],
  })
  return { ca: authority.cert, key: leaf.private, cert: leaf.cert }
}
