/** Runs every static check, as many at once as there are processors, and ends with all that is wrong. */
import { availableParallelism } from 'node:os'
import { execa } from 'execa'

/** Scripts of package.json with their arguments, the longest first. */
const parts = ['package', 'typecheck', 'lint', 'unused', 'docs -- --check', 'rules']

const wrong = new Set<string>()

/** What a part says is shown only if it fails. */
async function run(part: string): Promise<void> {
  const { failed, all } = await execa('npm', ['run', '--silent', ...part.split(' ')], { all: true, reject: false })
  if (failed) wrong.add(part)
  console.log(failed ? `FAIL ${part}\n${all}\n` : `ok   ${part}`)
}

const queue = [...parts]
const worker = async () => {
  for (let part = queue.shift(); part !== undefined; part = queue.shift()) await run(part)
}
await Promise.all(Array.from({ length: availableParallelism() }, worker))

if (wrong.size > 0) {
  console.log(`${wrong.size} of ${parts.length} parts are wrong. See one alone, and again once it is mended:`)
  for (const part of parts.filter(one => wrong.has(one))) console.log(`  npm run ${part}`)
  process.exitCode = 1
}
