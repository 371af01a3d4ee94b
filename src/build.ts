/** What a build makes of the compiled modules. Run by `npm run build`; no part of the package. */
import { writeFile } from 'node:fs/promises'
import { emptyDatabaseFile, makeEmptyDatabase } from './store/empty.ts'
import { migrations } from './store/migrations/index.ts'

await writeFile(emptyDatabaseFile, await makeEmptyDatabase(migrations))
