/** Formats numbers for help texts and questions. */

/** 50000 → `50,000`. Not by `toLocaleString`, whose data would delay each command. */
const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

export const fromTo = ([from, to]: readonly [number, number]) => `${grouped(from)} to ${grouped(to)}`

/** 200 → `2.00`. */
export const inUnits = (cents: number) => (cents / 100).toFixed(2)
