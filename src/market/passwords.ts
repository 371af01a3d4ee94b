/** Passwords: argon2id, at most two at once, since each takes memory and a core. */

// The library's own defaults, named so that the stand-in below costs exactly as much as a real one.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Fits no password. Verifying against it takes as long as against a real hash. */
export const noPassword = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

const AT_ONCE = 2
let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  // The one that ends hands its place over, so no newcomer can slip in between.
  if (running < AT_ONCE) running++
  else await new Promise<void>(resolve => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

// Native code, loaded by the first who needs it.
const argon = () => import('@node-rs/argon2')

export const hashPassword = (password: string): Promise<string> =>
  inTurn(async () => (await argon()).hash(password, cost))

/** For one of at least 64 random bits, which nobody can guess however quick its hash is. */
export const hashRandomPassword = async (password: string): Promise<string> =>
  (await argon()).hash(password, { ...cost, memoryCost: 8, timeCost: 1 })

/** Without a hash: false, after the same time. */
export const verifyPassword = (hash: string | undefined, password: string): Promise<boolean> =>
  inTurn(async () => (await argon()).verify(hash ?? noPassword, password))
