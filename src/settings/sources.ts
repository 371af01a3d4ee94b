/** Where the value of a setting came from, for messages: a flag, a variable or the project file. */
import { PROJECT_FILE } from './project-file.ts'

type Texts = Readonly<Record<string, string | undefined>>

export interface Sources {
  readonly flags: object
  readonly env: Texts
  readonly project: Texts
}

/** `baseUrl` → `base-url`. */
export const kebab = (flag: string) => flag.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** `baseUrl` → `MARKETPLACE_BASE_URL`. */
export const variable = (flag: string) => `MARKETPLACE_${kebab(flag).replaceAll('-', '_').toUpperCase()}`

/** A message about a setting begins with its flag. If the value came from elsewhere, names that instead. */
export const withSource = (message: string, { flags, env, project }: Sources) =>
  message.replace(/^--([a-z-]+)/, (flag, name: string) => {
    const attribute = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    if ((flags as Texts)[attribute] !== undefined) return flag
    const names = name === 'db' ? [variable('db'), 'DATABASE_URL'] : [variable(attribute)]
    const set = names.find(known => env[known] !== undefined)
    return set ?? (project[name] === undefined ? flag : `${name} of ${PROJECT_FILE}`)
  })
