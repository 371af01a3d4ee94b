/** Every row of all parts of the interface. */
import { checks } from './checks.ts'
import { endpoints } from './endpoints.ts'
import { holdings } from './holdings.ts'
import { errors, rates, sizes } from './limits.ts'
import { races } from './races.ts'
import { resources } from './resources.ts'
import type { Row } from './row.ts'
import { rules } from './rules.ts'
import { states } from './states.ts'

export const sections: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  ['2. Resources and their fields', [...resources, ...holdings]],
  ['3. States and transitions', states],
  ['3. Requests at the same moment', races],
  ['4. Endpoints', endpoints],
  ['5. and 6. Authentication, events', [...rules, ...checks]],
  ['7. Errors', errors],
  ['8. Limits', sizes],
  ['8. Rate limits', rates],
]

export const rows: readonly Row[] = sections.flatMap(([, rows]) => rows)
