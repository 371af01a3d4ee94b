/** The icons: lines on a grid of 16, in the colour of the words beside them. None says something that no word says. */

const ring = 'M1.75 8a6.25 6.25 0 1 0 12.5 0a6.25 6.25 0 1 0 -12.5 0'
const octagon = 'M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65H5.4L1.75 10.6V5.4z'
const star = 'm8 1.9 1.9 3.9 4.2.6-3.05 3 .7 4.25L8 11.6l-3.75 2.05.7-4.25-3.05-3 4.2-.6z'

/** By name: what is drawn, and what is filled. */
const icons = {
  agent: ['M8 1.75 13.5 5v6L8 14.25 2.5 11V5zM6.25 8a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0-3.5 0'],
  arrow: ['M2 8h11m-4-4 4 4-4 4'],
  back: ['M14 8H3m4-4L3 8l4 4'],
  bolt: ['M9 1.75 3 9h4.25L7 14.25 13 7H8.75z'],
  box: ['M3 2.5h10v11H3zM3 6h10M8 6v7.5'],
  cancelled: [`${ring}m2.05 4.2 8.4-8.4`],
  check: [`${ring}M5.3 8.3l1.9 1.9 3.6-4.2`],
  chevron: ['m6 3.5 4.5 4.5L6 12.5'],
  clock: [`${ring}M8 4.5V8l2.3 1.6`],
  close: ['m4.5 4.5 7 7m0-7-7 7'],
  coin: [
    'M4.5 3h7A1.5 1.5 0 0 1 13 4.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 11.5v-7A1.5 1.5 0 0 1 4.5 3M8 5.5v5m2-4.1c-.4-.6-1.1-.9-2-.9-1.1 0-2 .5-2 1.3 0 1.7 4 .7 4 2.4 0 .8-.9 1.3-2 1.3-.9 0-1.6-.3-2-.9',
  ],
  copy: ['M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'],
  cross: ['m4 4 8 8m0-8-8 8'],
  dash: ['M4 8h8'],
  doctor: ['M4.5 2v4a3 3 0 0 0 6 0V2M7.5 9v2a3 3 0 0 0 6 0V9M12.3 7.7a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0-2.4 0'],
  down: ['m3.5 6 4.5 4.5L12.5 6'],
  empty: [ring],
  failed: [`${octagon}m.6 4.25 4 4m0-4-4 4`],
  flag: ['M3.5 14.25V2.25c3-1.5 5.5 1.4 9 0v6.5c-3.5 1.4-6-1.5-9 0'],
  full: ['m5.2 8.2 2 2 3.6-4.3', ring],
  give: [ring, 'M8 4.2A3.8 3.8 0 1 1 4.2 8H8z'],
  half: [ring, 'M8 4.2a3.8 3.8 0 0 1 0 7.6z'],
  home: ['M2.5 7.5 8 2.75l5.5 4.75V13.5h-11z'],
  hour: ['M4 2h8m-8 12h8M5 2c0 3.5 6 8.5 6 12M11 2c0 3.5-6 8.5-6 12'],
  inbox: ['M2 9 4 3h8l2 6v4.5H2zM2 9h3.5l1 2h3l1-2H14'],
  key: ['M2.25 10.5a2.75 2.75 0 1 0 5.5 0a2.75 2.75 0 1 0-5.5 0m4.75-2 6-6m-2.5 2.5 2 2'],
  list: ['M2.5 4h11m-11 4h11m-11 4h7'],
  menu: ['M2.5 4.5h11m-11 3.5h11m-11 3.5h11'],
  moon: ['M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z'],
  pause: ['M5.5 3.5v9m5-9v9'],
  person: ['M5.25 5.25a2.75 2.75 0 1 0 5.5 0a2.75 2.75 0 1 0-5.5 0M2.75 14c.4-3 2.5-4.5 5.25-4.5s4.85 1.5 5.25 4.5'],
  play: ['M5 3v10l8-5z'],
  plus: ['M8 3v10M3 8h10'],
  retry: ['M13.5 6.5A5.75 5.75 0 1 0 13.75 9M13.75 2.5v4h-4'],
  scales: ['M8 2v12m-3.5 0h7M2.5 4.5h11M4 4.5 2 9.5h4zm8 0-2 5h4z'],
  search: ['M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0m8 3.5 3.25 3.25'],
  settings: [
    'M2 5h6m4 0h2M2 11h2m4 0h6M8.25 5a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0-3.5 0M4.25 11a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0-3.5 0',
  ],
  shield: ['M8 1.75 13.5 4v4c0 3-2.25 5-5.5 6.25C4.75 13 2.5 11 2.5 8V4z'],
  star: [star],
  stars: [star, star],
  talk: ['M2 3h12v8.5H7L4 14v-2.5H2z'],
  tick: ['m3.5 8.5 3 3 6-7'],
  wallet: ['M2 4.5h12v9H2zM2 4.5l8.5-2.25V4.5M10.5 9h1'],
  warning: ['M8 2 14.5 13.5h-13zM8 6.3v3.2m0 1.9v.1'],
} as const satisfies Readonly<Record<string, readonly [drawn: string, filled?: string]>>

export type IconName = keyof typeof icons

/** `draft` is the empty ring with gaps: the one icon whose line is broken. */
export function Icon({ name, class: more = '' }: { name: IconName | 'draft'; class?: string }) {
  const [drawn, filled] = (icons as Readonly<Record<string, readonly [string, string?]>>)[name] ?? [ring]
  return (
    <svg class={`i ${more}`} viewBox="0 0 16 16" aria-hidden="true">
      {filled && <path d={filled} class="fill" />}
      <path d={drawn} class={name === 'draft' ? 'gaps' : name === 'full' ? 'over' : undefined} />
    </svg>
  )
}
