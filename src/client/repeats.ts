/** Whether and when the same request is worth another attempt. */

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 300_000

/** Whether the same request may get another response later. `status`: undefined if none came. */
export const mayPass = (status: number | undefined) =>
  status === undefined || status === 408 || status === 429 || status >= 500

/** The pause after this attempt, in ms: as long as is asked, or twice the last one. null: longer than anybody should wait. `now`: Unix ms. */
export function pauseAfter(attempt: number, headers: Headers | undefined, now: number): number | null {
  const wait = Math.max(FIRST_PAUSE_MS * 2 ** (attempt - 1), askedMs(headers?.get('retry-after'), now))
  return wait > LONGEST_PAUSE_MS ? null : wait
}

/** In seconds or as a date. */
function askedMs(header: string | null | undefined, now: number): number {
  if (!header) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? 0 : ms
}
