/** Times as answers print them. Source: D14. */

export const iso = (ms: number) => new Date(ms).toISOString()

export const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
