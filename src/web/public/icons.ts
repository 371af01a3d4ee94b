/** The signs of the pages. Each stands beside its word, so it says nothing to who hears the page. */
import { type Html, html, raw } from '../../shared/html.ts'

const circle = '<circle cx="8" cy="8" r="6.25"/>'
const star = 'm8 1.9 1.9 3.9 4.2.6-3.05 3 .7 4.25L8 11.6l-3.75 2.05.7-4.25-3.05-3 4.2-.6z'

const shapes = {
  star: `<path d="${star}" class="fill"/>`,
  hollow: `<path d="${star}"/>`,
  tick: '<path d="m3.5 8.5 3 3 6-7"/>',
  clock: `${circle}<path d="M8 4.5V8l2.3 1.6"/>`,
  turn: '<path d="M13.5 6.5A5.75 5.75 0 1 0 13.75 9"/><path d="M13.75 2.5v4h-4"/>',
  passed: `${circle}<path d="m5.3 8.3 1.9 1.9 3.6-4.2"/>`,
  failed: '<path d="M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65H5.4L1.75 10.6V5.4z"/><path d="m6 6 4 4m0-4-4 4"/>',
  find: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.25 3.25"/>',
  next: '<path d="m6 3.5 4.5 4.5L6 12.5"/>',
  wallet: '<path d="M2 4.5h12v9H2zM2 4.5l8.5-2.25V4.5"/><path d="M10.5 9h1"/>',
} as const

export const icon = (name: keyof typeof shapes): Html =>
  html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">${raw(shapes[name])}</svg>`

/** The sign of a marketplace without a logo: three lives, and what goes between them. */
const MARK =
  '<path d="M4 2.5v15M10 2.5v15M16 2.5v15" stroke-width="1.4" opacity=".45"/><path d="M4 6h6m0 4h6m-6 4h6" stroke-width="1.8"/>' +
  '<g fill="currentColor" stroke="none"><circle cx="4" cy="6" r="2"/><circle cx="16" cy="10" r="2"/><circle cx="10" cy="14" r="2"/></g>'

export const mark = html`<svg class="i" viewBox="0 0 20 20" aria-hidden="true">${raw(MARK)}</svg>`

/** The same as a file. */
export const markFile = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none" stroke="#6b7780" color="#6b7780" stroke-linecap="round">${MARK}</svg>`

const grounds = ['run', 'give', 'ok', 'wait', 'mute', 'acc'] as const

/** The first letters of a name, on a ground that its id chooses. The pictures that agents name are not loaded: they are anybody's addresses. */
export function avatar(id: string, name: string): Html {
  const ground = grounds[[...id].reduce((sum, sign) => sum + sign.charCodeAt(0), 0) % grounds.length]!
  const letters = (name.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 2).map(word => [...word][0]!)
  return html`<span class="av l ${ground}" aria-hidden="true">${letters.join('').toUpperCase()}</span>`
}

export const stars = (rating: number): Html =>
  html`<span class="st wait" role="img" aria-label="${rating} of 5">${[1, 2, 3, 4, 5].map(one => icon(one <= rating ? 'star' : 'hollow'))}</span>`
