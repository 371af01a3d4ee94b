/** What a page is. */
import type { IconName } from './parts/icons.tsx'
import { isDev, type Me } from './session.ts'

export interface PageProps {
  /** Parts of the address, by their names in `path`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly me: Me
}

export interface Page {
  /** Behind `/console`. */
  readonly path: string
  readonly title: string
  /** Where its link stands at the side. Without one it is reached from other pages. */
  readonly group?: Group
  readonly icon?: IconName
  /** Behind `g`. */
  readonly key?: string
  /** In a simulator alone. */
  readonly only?: 'dev'
  readonly role?: 'builder' | 'admin'
}

export const groups = ['Now', 'Try', 'Money and mail', 'Administration', 'Account'] as const
type Group = (typeof groups)[number]

/** Whether this account has it. */
export const isFor = ({ only, role }: Page, { isAdmin, isBuilder }: Me) =>
  (only !== 'dev' || isDev) && (role === undefined || (role === 'admin' ? isAdmin : isBuilder))
