/** The names of the sink: each agent has one of them, so that the limit per host is not what is measured. */
export const sinkHosts: readonly string[] = ['localhost', ...Array.from({ length: 31 }, (_, n) => `a${n}.localhost`)]
