/** The choices of docs/decisions: sections with anchors, on the page of their topic. */
import { readdirSync, readFileSync } from 'node:fs'

const DECISIONS = 'docs/decisions'
export const INDEX = `${DECISIONS}/README.md`

export interface Choice {
  /** `A-188`; several where one section tells what several choices came to. */
  names: readonly string[]
  page: string
  text: string
}

const ANCHORS = /^(?=<a id=")/m
const SECTION = /^(?<anchors>(?:<a id="a-[1-9]\d*"><\/a>)+)\n\n## (?<names>A-\d+(?:, A-\d+)*) · \S.*\n/

/** Returns the sections of a page; throws where anchors and heading differ, or a heading has no anchor. */
export function choicesIn(page: string, text: string): Choice[] {
  return text
    .split(ANCHORS)
    .slice(1)
    .map(section => {
      const { anchors, names } = SECTION.exec(section)?.groups ?? {}
      const named = names?.split(', ') ?? []
      const wanted = named.map(name => `<a id="${name.toLowerCase()}"></a>`).join('')
      const headings = section.match(/^##? /gm) ?? []
      if (anchors !== wanted || headings.length !== 1)
        throw new Error(`${page}: an anchor and a heading of its name are wanted at ${section.slice(0, 80)}`)
      return { names: named, page, text: section }
    })
}

export const topicPages = readdirSync(DECISIONS)
  .filter(name => name !== 'README.md')
  .map(name => ({ name, text: readFileSync(`${DECISIONS}/${name}`, 'utf8') }))

export const choices: readonly Choice[] = topicPages.flatMap(({ name, text }) => choicesIn(name, text))

/** Each choice by its name. */
export const choiceOf: ReadonlyMap<string, Choice> = new Map(
  choices.flatMap(choice => choice.names.map(name => [name, choice] as const)),
)
