/**
 * Code that tests run in processes of their own. It is bundled with the tests (bundle.ts), as a process that reads TypeScript
 * takes 0.5 s of CPU to load, one that reads JavaScript 0.1. Outside a bundle, as in npm run test:crash, it is read as it is.
 */
import { fileURLToPath } from 'node:url'
import { SHORT_LIVED } from './short-lived.ts'

/** From the root of the repository. */
export const childCode = [
  'src/cli/log/deployment-log.ts',
  'src/store/embedded/database.ts',
  'src/store/embedded/lock.ts',
  'src/world/egress/egress.ts',
  'src/world/real.ts',
  'test/client/journal-agent.ts',
  'test/neighbour/hostile-process.ts',
  'test/store/memory-step.ts',
] as const

export type ChildCode = (typeof childCode)[number]

/** The file that it is bundled as, without its extension. */
export const bundledAs = (path: ChildCode) => path.replace(/\.ts$/, '').replaceAll('/', '.')

const isBundled = import.meta.url.endsWith('.js')

export const urlOf = (path: ChildCode): string =>
  new URL(isBundled ? `./${bundledAs(path)}.js` : `../../${path}`, import.meta.url).href

/** What Node needs to read it. */
export const loader: readonly string[] = isBundled ? SHORT_LIVED : ['--import', import.meta.resolve('tsx')]

/** What runs it as a program, for `node`. */
export const programOf = (path: ChildCode): string[] => [...loader, fileURLToPath(urlOf(path))]
