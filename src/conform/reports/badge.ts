/** A badge for a README: how much of what an agent must and should do it does. */
import { deathDecides, type Report } from '../judging/report.ts'
import { totals } from './findings.ts'
import { xml } from './xml.ts'

const LABEL = 'conformance'
const HEIGHT = 20
/** Of a letter of Verdana at 11 px, about. */
const LETTER = 6.6
const PADDING = 12

const widthOf = (text: string) => Math.round(text.length * LETTER + PADDING)

export function badge(report: Report): string {
  const hasEnded = deathDecides(report)
  const isCut = report.limitMs !== null
  const text = [totals(report), hasEnded && 'agent ended', isCut && 'time over'].filter(Boolean).join(' · ')
  const { fail, inconclusive, warn } = report.summary
  const colour =
    fail > 0 || hasEnded ? '#b3261e' : inconclusive > 0 || isCut ? '#5f6368' : warn > 0 ? '#8a6100' : '#2e7d32'
  const [left, right] = [widthOf(LABEL), widthOf(text)]
  const words = (content: string, middle: number) => ({ '@x': middle, '@y': 14, '#text': content })
  return xml({
    svg: {
      ...{ '@xmlns': 'http://www.w3.org/2000/svg', '@width': left + right, '@height': HEIGHT, '@role': 'img' },
      '@aria-label': `${LABEL}: ${text}`,
      title: { '#text': `${LABEL}: ${text}` },
      rect: [
        { '@width': left, '@height': HEIGHT, '@fill': '#3c4043' },
        { '@x': left, '@width': right, '@height': HEIGHT, '@fill': colour },
      ],
      g: {
        ...{
          '@fill': '#fff',
          '@text-anchor': 'middle',
          '@font-family': 'Verdana,DejaVu Sans,sans-serif',
          '@font-size': 11,
        },
        text: [words(LABEL, left / 2), words(text, left + right / 2)],
      },
    },
  })
}
