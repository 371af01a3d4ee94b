/** The browser of whoever sits at this machine. */
import { spawn } from 'node:child_process'

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address there. Resolves to false where nothing opens one. It goes on when this process has ended. */
export function openInBrowser(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
  child.unref()
  return new Promise(resolve => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
  })
}
