/** The command line from src, without a build: `npm run dev`. No part of the package. */
import { main } from '../src/cli/main.ts'

// The watcher takes keys too: each would reach one of the two, and any of them starts this anew.
Object.defineProperty(process.stdin, 'isTTY', { value: false })
process.exitCode = await main(process.argv.slice(2))
