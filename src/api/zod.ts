/** Zod with one shape for each that is plain: the records have hundreds of them, and every start makes all. */
import { int as makeInt, string as makeString } from 'zod'

export * from 'zod'

const STRING = makeString()
const INT = makeInt()

export const string = ((given?: Parameters<typeof makeString>[0]) =>
  given === undefined ? STRING : makeString(given)) as typeof makeString

export const int: typeof makeInt = given => (given === undefined ? INT : makeInt(given))
