/** What was signed beside what is to be signed, in parts of which those that differ are marked. No secret and no digest is in it. Source: A-288. */

type Mark = 'same' | 'extra' | 'missing' | 'different'

interface Part {
  readonly text: string
  readonly mark: Mark
}

export interface SignedForms {
  readonly sent: Part[]
  readonly right: Part[]
}

/** Of what is alike, so much is shown beside what differs; of what differs, so much. */
const BESIDE = 40
const DIFFERENT = 400

export function signedForms(sent: string, right: string): SignedForms {
  const most = Math.min(sent.length, right.length)
  let before = 0
  while (before < most && sent[before] === right[before]) before++
  let behind = 0
  while (behind < most - before && sent.at(-1 - behind) === right.at(-1 - behind)) behind++
  const partsOf = (text: string, other: string, alone: Mark): Part[] => {
    const middle = text.slice(before, text.length - behind)
    const isAlone = other.length === before + behind
    const parts: Part[] = [
      { text: lastOf(text.slice(0, before)), mark: 'same' },
      { text: firstOf(middle, DIFFERENT), mark: isAlone ? alone : 'different' },
      { text: firstOf(text.slice(text.length - behind), BESIDE), mark: 'same' },
    ]
    return parts.filter(part => part.text !== '')
  }
  return { sent: partsOf(sent, right, 'extra'), right: partsOf(right, sent, 'missing') }
}

const firstOf = (text: string, most: number) => (text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text)
const lastOf = (text: string) => (text.length > BESIDE ? `…${text.slice(-BESIDE).toWellFormed()}` : text)
