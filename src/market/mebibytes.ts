/** Quotas in MiB. */
export const MIB = 1024 * 1024

export const inMiB = (bytes: number) => `${Math.ceil(bytes / MIB)} MiB`
