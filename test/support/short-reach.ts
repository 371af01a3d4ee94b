/** Lists that look through a hundred entries, so that a test need not have tens of thousands. To be imported before what asks for the bound. */
import { limits } from '../../src/api/limits.ts'

Object.assign(limits.page, { reach: 100 })
