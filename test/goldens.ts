/** `npm run goldens`: writes anew what tests compare to the letter. Look at the difference before you commit it. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const comparing = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
  file => file.endsWith('.test.ts') && readFileSync(`test/${file}`, 'utf8').includes('support/golden.ts'),
)
const { status } = spawnSync(process.execPath, ['--import', 'tsx', 'test/run.ts', ...comparing], {
  stdio: 'inherit',
  env: { ...process.env, GOLDENS: 'write' },
})
process.exitCode = status ?? 1
