/** Formats numbers for help texts and questions. */

import { grouped } from '../../api/grouped.ts'

export const fromTo = ([from, to]: readonly [number, number]) => `${grouped(from)} to ${grouped(to)}`

/** 200 → `2.00`. */
export const inUnits = (cents: number) => (cents / 100).toFixed(2)
