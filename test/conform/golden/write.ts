/** `npm run goldens`: writes anew what the judge prints. Look at the difference before you commit it. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { renderings } from './renderings.ts'

const FOLDER = 'test/conform/golden'
for (const name of readdirSync(FOLDER)) if (!name.endsWith('.ts')) rmSync(`${FOLDER}/${name}`)
for (const [name, text] of Object.entries(renderings())) writeFileSync(`${FOLDER}/${name}`, text)
