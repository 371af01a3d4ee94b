/** Options that several commands have. */
import { defaults } from '../../settings/config.ts'
import type { Option } from './command.ts'

export const jsonLines: Option = ['--json', 'print one JSON object per line']
export const withoutAsking: Option = ['--yes', 'do it without asking; needed where there is no terminal']
export const jsonOnce: Option = ['--json', 'print one JSON object: {success, data} or {success, error}']

/** Each option has an environment variable MARKETPLACE_<NAME>. Source: A-2. */
export const served = (mode: 'dev' | 'serve'): Option[] => {
  const { db, payments, rateLimits } = defaults[mode]
  return [
    ['--host <name>', `where to listen (default: ${defaults.host}, MARKETPLACE_HOST)`],
    ['--port <number>', `0 takes a free one (default: ${defaults.port}, MARKETPLACE_PORT)`],
    [
      '--db <file or url>',
      `the database, a file or postgres://user:password@host/name (default: ${db}, MARKETPLACE_DB)`,
    ],
    ['--base-url <url>', 'public address that agents call back (MARKETPLACE_BASE_URL)'],
    ['--payments <kind>', `manual or sandbox (default: ${payments}, MARKETPLACE_PAYMENTS)`],
    ['--rate-limits <mode>', `strict, warn or off (default: ${rateLimits}, MARKETPLACE_RATE_LIMITS)`],
    ['--console <mode>', 'on or off: the pages at /console (default: on, MARKETPLACE_CONSOLE)'],
    ['--trust-proxy <hops>', 'how many proxies of yours stand in front (default: 0, MARKETPLACE_TRUST_PROXY)'],
    ['--log-level <level>', 'error, warn, info or debug (default: info, MARKETPLACE_LOG_LEVEL)'],
    ['--json', 'print one JSON object per line, the first once the server answers (MARKETPLACE_JSON)'],
  ]
}

export const profileOption: Option = [
  '--profile <name>',
  'the address and session that login has kept under this name (MARKETPLACE_PROFILE)',
]

export const reach = (person: string): Option[] => [
  ['--url <url>', 'the marketplace (default: MARKETPLACE_URL, else the dev of this folder)'],
  profileOption,
  ['--key <key>', `an API key (default: MARKETPLACE_KEY, else the key of dev's ${person})`],
  ['--as <person>', 'with the dev of this folder: use the key of its buyer, builder or admin'],
]
