/** Writes docs/openapi.json, docs/llms.txt and docs/reference; with --check it writes nothing, and fails if they are stale or not valid. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { eventSchema, openApi } from '../../src/api/openapi/openapi.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { version } from '../../src/settings/config.ts'
import { commandsPage } from './commands-page.ts'
import { conformancePage } from './conformance-page.ts'
import { llmsPage } from './llms-page.ts'
import { eventsPage, groupPages, indexPage, recordsPage } from './markdown.ts'
import { reportSchema } from './report-schema.ts'
import { errorsPage, limitsPage } from './tables.ts'
import { toolsPage } from './tools-page.ts'

const REFERENCE = 'docs/reference'

const commands = await wholeTable()

/** Every file, by its path. */
function allFiles(): Record<string, string> {
  const doc = openApi({ endpoints, version, baseUrl: 'http://127.0.0.1:4000', mode: 'dev' })
  const pages: Record<string, string> = {
    ...groupPages(doc),
    'README.md': indexPage(doc),
    'records.md': recordsPage(doc),
    'events.md': eventsPage(doc),
    'errors.md': errorsPage(doc),
    'limits.md': limitsPage(),
    'commands.md': commandsPage(commands),
    'tools.md': toolsPage(),
    'conformance.md': conformancePage(),
    'conformance-run.schema.json': `${JSON.stringify(reportSchema(), null, 2)}\n`,
    'webhook-events.schema.json': `${JSON.stringify(eventSchema(), null, 2)}\n`,
  }
  const files = Object.entries(pages).map(([name, text]) => [join(REFERENCE, name), text])
  return {
    'docs/openapi.json': `${JSON.stringify(doc, null, 2)}\n`,
    'docs/llms.txt': llmsPage(commands),
    ...Object.fromEntries(files),
  }
}

const contentOf = (path: string) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const there = () => {
  mkdirSync(REFERENCE, { recursive: true })
  return readdirSync(REFERENCE).map(name => join(REFERENCE, name))
}

function write(files: Record<string, string>): void {
  for (const path of there()) if (!(path in files)) rmSync(path)
  for (const [path, text] of Object.entries(files)) if (contentOf(path) !== text) writeFileSync(path, text)
}

function check(files: Record<string, string>): number {
  const stale = Object.keys(files).filter(path => contentOf(path) !== files[path])
  const surplus = there().filter(path => !(path in files))
  if (stale.length + surplus.length > 0) {
    console.error(`Stale: ${[...stale, ...surplus].join(', ')}. Run \`npm run docs\` and commit what it writes.`)
    return 1
  }
  return lint()
}

/** Errors and warnings fail. It would report its use, and look for a newer version, if it were let. */
function lint(): number {
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' }
  const options = ['lint', 'docs/openapi.json', '--config', 'test/docs/redocly.yaml', '--format', 'stylish']
  const { status, stdout, stderr } = spawnSync('node_modules/.bin/redocly', options, {
    encoding: 'utf8',
    env: { ...process.env, ...quiet },
  })
  if (status !== 0) console.error(stdout, stderr)
  return status ?? 1
}

const files = allFiles()
if (process.argv.includes('--check')) process.exitCode = check(files)
else write(files)
