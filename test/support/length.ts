/** How long the proofs are that this process runs: `npm test` runs their short form, `npm run test:long` the long one. */
export type Length = 'short' | 'long'

export const isLong = process.env.TEST_LENGTH === 'long'

/** How much of something is tried. */
export const amount = ({ short, long }: { short: number; long: number }): number => (isLong ? long : short)
