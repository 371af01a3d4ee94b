/** A proxy that the environment names can't reach the marketplace on this machine: an agent's callbacks would end there. */
const LOOPBACK = 'localhost,127.0.0.1,::1'

/** The environment for a process that calls a marketplace on this machine. curl and Python heed it, and Node if told to. */
export function withoutLoopbackProxy(env: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  if (!Object.keys(env).some(name => /^(?:https?|all)_proxy$/i.test(name))) return env
  // Programs differ in which of the two they read, and which goes first.
  const own = env.no_proxy || env.NO_PROXY
  // curl takes it for every host only where it stands alone.
  if (own === '*') return env
  const all = own ? `${own},${LOOPBACK}` : LOOPBACK
  return { ...env, no_proxy: all, NO_PROXY: all }
}
