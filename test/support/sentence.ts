/** What people are told has no gap where a word should stand. */
import * as z from 'zod'

/** Two spaces, one at an end, empty quotes, or what JavaScript prints of a value that is not there. */
const GAP = /^\s*$|^\s|[^\S\n]$| {2}\S|“”|\bundefined\b|\bNaN\b|\[object |, ,|: ?$/

/** What somebody has sent may be anything. */
const withoutQuotes = (text: string) => text.replace(/"[^"]+"/g, '"…"')

/** A text for people. Made of their own words, it may hold anything between them. */
export const sentence = () =>
  z.string().refine(text => !GAP.test(withoutQuotes(text)), 'has a gap where a word should stand')
