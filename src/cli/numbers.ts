/** Numbers of the interface, as help texts and questions say them. */

/** 50000 → `50,000`. Without `toLocaleString`, which each command would wait for. */
const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

export const fromTo = ([from, to]: readonly [number, number]) => `${grouped(from)} to ${grouped(to)}`

/** 200 → `2.00`. */
export const inUnits = (cents: number) => (cents / 100).toFixed(2)
