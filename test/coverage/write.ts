/** Writes the coverage table. */
import { writeFileSync } from 'node:fs'
import { coveragePage, PAGE } from './page.ts'

writeFileSync(PAGE, coveragePage())
