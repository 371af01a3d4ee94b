/** The command line from src, without a build: `npm run dev`. No part of the package. */
import { main } from '../src/cli/main.ts'

process.exitCode = await main(process.argv.slice(2))
