/** What an operator gives the public pages and the console: a name, colours and a logo. Colours that cannot be read are refused. */
import { readFileSync, statSync } from 'node:fs'
import { UsageError } from '../shared/usage-error.ts'

export interface Brand {
  /** null: the host of the public address. */
  readonly name: string | null
  /** Of links and of the main button, on light and on dark ground. */
  readonly colors: { readonly light: string; readonly dark: string } | null
  readonly logo: { readonly type: string; readonly bytes: Buffer } | null
}

/** The first bytes of the kinds of pictures that a logo may be. */
const kinds = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['image/svg+xml', /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/],
] as const

const MOST_LOGO_KIB = 64
const MOST_NAME = 60

export const brandOf = (name = '', colors = '', logo = ''): Brand => ({
  name: name === '' ? null : nameOf(name),
  colors: colors === '' ? null : colorsOf(colors),
  logo: logo === '' ? null : logoOf(logo),
})

function nameOf(text: string): string {
  const name = text.trim()
  if (/^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name) && name.length <= MOST_NAME) return name
  throw new UsageError(`MARKETPLACE_BRAND_NAME takes 1 to ${MOST_NAME} characters on one line.`)
}

function logoOf(path: string): NonNullable<Brand['logo']> {
  const bytes = bytesOf(path)
  const head = bytes.subarray(0, 1024).toString('latin1')
  const kind = kinds.find(([, begin]) => begin.test(head))
  if (kind) return { type: kind[0], bytes }
  throw new UsageError(`MARKETPLACE_BRAND_LOGO takes a PNG, WebP or SVG file, and ${path} is none.`)
}

function bytesOf(path: string): Buffer {
  try {
    const { size } = statSync(path)
    if (size <= MOST_LOGO_KIB * 1024) return readFileSync(path)
  } catch (error) {
    throw new UsageError(`MARKETPLACE_BRAND_LOGO: ${path} can't be read: ${(error as Error).message}.`)
  }
  throw new UsageError(`MARKETPLACE_BRAND_LOGO takes a file of at most ${MOST_LOGO_KIB} KiB: ${path} is larger.`)
}

type Rgb = readonly [number, number, number]

/** The grounds that words stand on, of fixtures/pages/tokens.css. */
const grounds = {
  light: { of: 'light', all: ['#ffffff', '#f5f6f6', '#f1f3f4', '#eef0f1', '#eaf0fd'], towards: [0, 0, 0] },
  dark: { of: 'dark', all: ['#141819', '#0e1112', '#1b2022', '#1a1f21', '#17223a'], towards: [255, 255, 255] },
} as const
type Ground = (typeof grounds)['light' | 'dark']

/** WCAG 2.2 AA, of words of usual size. */
const ENOUGH = 4.5
const STEPS = 50

function colorsOf(text: string): NonNullable<Brand['colors']> {
  const given = text.split(',').map(part => part.trim().toLowerCase())
  if (given.length > 2 || !given.every(one => /^#[0-9a-f]{6}$/.test(one))) {
    throw new UsageError(
      `MARKETPLACE_BRAND_COLORS takes one colour or two, for light and for dark ground, like #1d4ed0 or #1d4ed0,#92b4ff, not ${text}.`,
    )
  }
  const [light, dark = readable(light!, grounds.dark)] = given
  refuseUnreadable(light!, grounds.light)
  refuseUnreadable(dark, grounds.dark)
  return { light: light!, dark }
}

function refuseUnreadable(color: string, ground: Ground): void {
  const ratio = worst(rgbOf(color), ground)
  if (ratio >= ENOUGH) return
  throw new UsageError(
    `MARKETPLACE_BRAND_COLORS: ${color} is hard to read on ${ground.of} ground: its contrast is ${ratio.toFixed(1)}, and ${ENOUGH} is needed. ${readable(color, ground)} has it.`,
  )
}

/** The nearest colour that can be read there. */
function readable(color: string, ground: Ground): string {
  const from = rgbOf(color)
  for (let step = 0; step < STEPS; step++) {
    const mixed = from.map((part, at) =>
      Math.round(part + ((ground.towards[at]! - part) * step) / STEPS),
    ) as unknown as Rgb
    if (worst(mixed, ground) >= ENOUGH) return hexOf(mixed)
  }
  return hexOf(ground.towards)
}

const rgbOf = (hex: string) => [1, 3, 5].map(at => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb
const hexOf = (color: Rgb) => `#${color.map(part => part.toString(16).padStart(2, '0')).join('')}`

const worst = (color: Rgb, { all }: Ground) => Math.min(...all.map(one => contrast(color, rgbOf(one))))

function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map(part => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
