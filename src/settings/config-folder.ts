/** Where the program keeps what is the user's own, whatever the working folder. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { UsageError } from '../shared/usage-error.ts'

/** By the rules of XDG. A relative folder would leave sessions in any working folder. */
export function configFolderOf({ XDG_CONFIG_HOME: given, HOME }: NodeJS.ProcessEnv): string {
  return join(given && isAbsolute(given) ? given : join(homeFolder(HOME), '.config'), 'marketplace')
}

/** In a container a user may have none. */
function homeFolder(given: string | undefined): string {
  try {
    if (given === undefined || isAbsolute(given)) return homedir()
  } catch {} // said below
  throw new UsageError(
    'This user has no home folder to keep a session in: set XDG_CONFIG_HOME to a folder, or give --key.',
  )
}
