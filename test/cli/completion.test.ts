// engines: embedded; process: shared; lengths: short, long
/** Completion in shells, the manual, and what this version prints about itself. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { manPages } from '../../scripts/build/man-pages.ts'
import type { CommandTable } from '../../src/cli/command-line/command.ts'
import { idsOf } from '../../src/cli/command-line/completion-ids.ts'
import { scripts } from '../../src/cli/command-line/completion-scripts.ts'
import { allWordsOf } from '../../src/cli/command-line/completion-words.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { flagValues } from '../../src/cli/commands/completion.ts'
import { installed } from '../docs/guide.ts'
import { sameAsKept } from '../support/golden.ts'
import { isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { answerHere, runHere } from './in-process.ts'
import { inFolder, run, startDev, typeOnTerminal } from './program.ts'

const table = await wholeTable()
const { chapters } = table
const isThere = (program: string) => spawnSync(program, ['--version']).status === 0

type Words = readonly string[]

/** What a tabulator offers after each of these lines, in a real bash: one for all, since it reads the script for 0.1 s. */
function offered(
  script: string,
  lines: readonly Words[],
  where: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): string[][] {
  const ask = `${script}
while read -r -d '' count; do
  COMP_WORDS=(marketplace)
  for ((; count > 0; count--)); do read -r -d '' word; COMP_WORDS+=("$word"); done
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _marketplace; echo "\${COMPREPLY[*]}"
done`
  const input = lines.map(words => [words.length, ...words].map(word => `${word}\0`).join('')).join('')
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8', input, ...where })
    .split('\n')
    .slice(0, -1)
    .map(line => line.split(' ').filter(Boolean))
}

test('bash completes commands, groups and flags at each depth', async () => {
  const { out, code } = await runHere('completion', 'bash')
  assert.is(code, 0)
  const lines: readonly (readonly [Words, readonly string[]])[] = [
    [['tas'], ['tasks']],
    [
      ['fault', 'arm', 'copy'],
      ['copy', 'copy-at-once'],
    ],
    [
      ['tasks', 'rev'],
      ['review', 'revise'],
    ],
    [
      ['tasks', 'review', ''],
      ['add', 'show'],
    ],
    [['tasks', 'list', '--stat'], ['--status']],
    // A flag before is no word of the command.
    [['tasks', '--url', 'http://x', 'sho'], ['show']],
    [['tasks', 'show', 'TASK_ID', '--js'], ['--json']],
    [['simulate', 'buyers', '--mix', 'pi'], ['picky']],
    [['simulate', 'buyers', '--mix', 'ghost,pi'], ['ghost,picky']],
    [['simulate', 'buyers', '--mix', '=', 'ghost,pi'], ['ghost,picky']],
    // What stands before the last colon stays as it is.
    [['simulate', 'buyers', '--mix', 'ghost', ':', '2,pi'], ['2,picky']],
    [['call', '--header', 'X-Trace', ':', ''], []],
    [
      ['serve', '--rate-limits', ''],
      ['off', 'strict', 'warn'],
    ],
    [['serve', '--port', ''], []],
  ]
  const few = offered(
    out,
    lines.map(([words]) => words),
  )
  assert.equal(
    few.map(words => words.sort()),
    lines.map(([, wanted]) => wanted),
  )
  const records = chapters.flatMap(([, records]) => records)
  const flags = offered(
    out,
    records.map(({ name }) => [...name.split(' '), '--']),
  )
  for (const [at, { name, options }] of records.entries())
    for (const [flag] of options) assert.ok(flags[at]!.includes(/--[a-z-]+/.exec(flag)![0]), `${name}: ${flag}`)
})

test(
  'ids and slugs are asked of the marketplace of the folder, each by the command that takes it; without one none are offered',
  inFolder(async folder => {
    const script = (await runHere('completion', 'bash')).out
    const where = { cwd: folder, env: installed(folder) }
    const asked: readonly Words[] = [
      ['simulate', 'buyer', 'silent-a'],
      ['tasks', 'show', 'task_'],
      ['exchanges', 'list', '--task', 'task_'],
      ['logs', '--agent', 'sil'],
      ['admin', 'users', 'update', 'bui'],
      ['keys', 'delete', 'key_'],
    ]
    assert.equal(
      offered(script, asked, where),
      asked.map(() => []),
    )
    const { ready, stop } = await startDev(folder)
    const texts = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00', '--json']
    const { out } = await run(['tasks', 'create', '--agent', 'sample-agent', ...texts], folder)
    const { id } = JSON.parse(out).data
    let found: string[][] = []
    // A busy machine may answer too late for a keyboard.
    await until(
      () => `six answers, but ${JSON.stringify(found)}`,
      () => {
        found = offered(script, asked, where)
        return found.every(words => words.length > 0)
      },
    )
    assert.equal(found.slice(0, 5), [
      ['silent-analyst'],
      [id],
      [id],
      ['silent-analyst', 'silent-translator'],
      [ready.accounts.builder.email],
    ])
    // A key goes to no other marketplace at the address of the dev that has ended.
    const path = join(folder, '.marketplace', 'credentials.json')
    const kept = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...kept, instance: 'another' }))
    assert.equal(offered(script, [['tasks', 'show', 'task_']], where), [[]])
    await stop()
  }),
)

test('the scripts of the other shells hold every command, and are right where there is such a shell', () => {
  for (const shell of ['zsh', 'fish'] as const) {
    const script = scripts[shell](table, undefined, idsOf(table))
    assert.match(script, 'buyer:/api/tasks?limit=50:id:title')
    for (const [, records] of chapters)
      for (const { name } of records) assert.ok(script.includes(name.split(' ').at(-1)!), `${shell}: ${name}`)
    // A real fish reads its script below.
    if (shell === 'zsh' && isThere(shell)) execFileSync(shell, ['-n'], { input: script })
  }
  assert.match(scripts.zsh(table), String.raw`'deliveries:The webhooks of your agents\: list, show, resend'`)
})

const examples = ['marketplace tasks list', 'marketplace tasks show TASK_ID'] as const
const record = { examples, run: () => Promise.resolve(0) }
/** A small one, with what is to be quoted. */
const SMALL: CommandTable = {
  groups: { tasks: { summary: "Tasks: hire, don't wait", examples } },
  chapters: [
    [
      'Hire agents:',
      [
        {
          ...record,
          ...{
            name: 'tasks show',
            takes: ['<task-id>'],
            summary: 'One task: its state',
            options: [['--json', 'as JSON']],
          },
        },
        {
          ...record,
          ...{ name: 'tasks list', summary: 'Your "tasks" [all]' },
          options: [
            ['-s, --sort <order>', 'newest, oldest or price (default: newest)'],
            ['--agent <agent>', 'only those of one agent'],
            ['--mix <shares>', 'shares of behaviour'],
            ['--title <text>', 'any text'],
          ],
        },
        {
          ...record,
          name: 'fault',
          takes: ['<name>'],
          values: [['copy', 'it comes $twice']],
          summary: 'One',
          options: [],
        },
      ],
    ],
  ],
}
const SCRIPTS = 'test/cli/completion-scripts.txt'

test('the script of each shell is as it was, and so is what is asked for ids', () => {
  const known = new Map([[' tasks list --mix', [{ word: 'ghost', about: "it doesn't answer" }]]])
  const parts = Object.entries(scripts).map(([shell, make]) => `==> ${shell}\n${make(SMALL, known, idsOf(SMALL))}`)
  const ids = [...idsOf(table)].map(([at, lists]) => `marketplace${at}: ${lists}\n`)
  sameAsKept(SCRIPTS, [...parts, `==> ids\n${ids.join('')}`].join('\n'))
})

test('the script of PowerShell holds each word as it is, whatever quotes or case there are', async () => {
  const quoted = { ...table.chapters[0]![1][0]!, name: 'it’s', summary: "a 'word', another" }
  const odd = { ...table, chapters: [...chapters, ['Odd', [quoted]] as (typeof chapters)[number]] }
  const known = await flagValues()
  const script = scripts.pwsh(odd, known, idsOf(odd))
  // To PowerShell each of these is a quote, and a doubled one within stands for the second.
  const literal = /['\u2018-\u201b]((?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*)['\u2018-\u201b]/g
  const literals = (text: string) =>
    [...text.matchAll(literal)].map(([, inside]) => inside!.replace(/(['\u2018-\u201b])./g, '$1'))
  const rows = new Map<string, string[][]>()
  for (const block of script.split(/^ {2}\$/m)) {
    const keys = [...block.matchAll(/^ {4}('.*?') = (.*)$/gm)].map(([, key, list]) => {
      const at = literals(key!)[0]!
      if (list!.startsWith('@'))
        rows.set(
          at,
          literals(list!).map(line => line.split('\t')),
        )
      return at.toLowerCase()
    })
    assert.is(new Set(keys).size, keys.length, 'a table of PowerShell tells no case, and refuses a key that it has')
  }
  const all = allWordsOf(odd, known)
  assert.ok(all.words.has(' it’s') && all.values.has(' simulate buyers --mix'))
  for (const [at, next] of [...all.words, ...all.values])
    assert.equal(
      rows.get(at),
      next.map(({ word, about }) => [word, about]),
      at,
    )
  assert.match(script, 'buyer:/api/tasks?limit=50:id:title')
})

/** What a person types, and the line after a tabulator. */
const completed: readonly (readonly [typed: string, line: string])[] = [
  ['simulate buyer my --outcome disp', 'simulate buyer my --outcome dispute'],
  ['tasks --url http://x appr', 'tasks --url http://x approve'],
  ['simulate buyers --mix pi', 'simulate buyers --mix picky'],
  ['simulate buyers --mix ghost:2,pi', 'simulate buyers --mix ghost:2,picky'],
  ['dev --persona verb', 'dev --persona verbose'],
  ['serve --rate-limits st', 'serve --rate-limits strict'],
  ['tasks list --stat', 'tasks list --status'],
  ['conformance --requirements 2', 'conformance --requirements 2026-1'],
  ['completion fi', 'completion fish'],
]

/** In a shell that this machine has. */
function inShell(
  shell: keyof typeof scripts,
  name: string,
  work: (script: string, folder: string) => Promise<void>,
): void {
  const words = `${shell} is not here`
  const isTried = isThere(shell)
  if (!isTried) test(`not tried: ${words}`, () => console.log(`\nnot tried: ${words}`))
  else
    test(
      name,
      inFolder(async folder => {
        const script = join(folder, 'script')
        writeFileSync(script, (await runHere('completion', shell)).out)
        await work(script, folder)
      }),
    )
}

/** What real shells complete by ids, in a folder of a dev: of its agents, a task, an account. */
async function rowsOfIds(folder: string) {
  const { ready, stop } = await startDev(folder)
  const texts = [
    '--title',
    "A letter: it's `x`",
    '--description',
    'Count the words, please.',
    '--price',
    '5.00',
    '--json',
  ]
  const { out } = await run(['tasks', 'create', '--agent', 'sample-agent', ...texts], folder)
  const { id } = JSON.parse(out).data
  const rows: typeof completed = [
    ['simulate buyer silent-a', 'simulate buyer silent-analyst'],
    ['why silent-a', 'why silent-analyst'],
    ['logs --agent silent-a', 'logs --agent silent-analyst'],
    ['tasks show task_', `tasks show ${id}`],
    ['exchanges list --task task_', `exchanges list --task ${id}`],
    ['admin users update bui', `admin users update ${ready.accounts.builder.email}`],
  ]
  return { rows, stop }
}

/** `ask`: the arguments with which a shell prints what it offers for the last word that is typed. */
async function offersThem(shell: string, folder: string, ask: (typed: string) => string[]): Promise<void> {
  const env = installed(folder)
  const { rows, stop } = await rowsOfIds(folder)
  for (const [typed, line] of [...completed, ...rows]) {
    let found: string[] = []
    // A busy machine may answer too late for a keyboard.
    await until(
      () => `${typed}: ${found}`,
      () => {
        const lines = execFileSync(shell, ask(typed), { encoding: 'utf8', cwd: folder, env }).trim().split(/\r?\n/)
        found = lines.map(offer => offer.split('\t')[0]!)
        return found.length === 1 && line.endsWith(found[0]!) && found[0]!.length >= line.split(/[ ,]/).at(-1)!.length
      },
    )
  }
  await stop()
}

if (isLong)
  inShell('fish', 'a real fish completes commands, flags and their values, and ids', (script, folder) =>
    offersThem('fish', folder, typed => ['--no-config', '-c', `source ${script}; complete -C 'marketplace ${typed}'`]),
  )

if (isLong)
  inShell('pwsh', 'a real PowerShell completes them, each name of a list too', (script, folder) =>
    offersThem('pwsh', folder, typed => {
      const line = `marketplace ${typed}`
      const shown = `(TabExpansion2 '${line}' ${line.length}).CompletionMatches.CompletionText`
      return ['-NoProfile', '-Command', `Get-Content -Raw '${script}' | Invoke-Expression; ${shown}`]
    }),
  )

/** `begin`: how the shell reads the script. */
async function completesOnTerminal(command: string, folder: string, begin: string): Promise<void> {
  const shell = typeOnTerminal(command, folder, installed(folder))
  const lines = () => stripVTControlCharacters(shell.shown()).split(/[\r\n]+/)
  const seen = (words: string) =>
    until(
      () => `${words}, but ${shell.shown()}`,
      () => lines().some(row => row.trim() === words),
    )
  shell.press(`${begin}; echo rea''dy\n`)
  await seen('ready')
  // The line is printed from its beginning, as a terminal shows only what is new in it.
  const type = (typed: string, at: number) => shell.press(`marketplace ${typed}\t\x01echo : \x05 .${at}\n`)
  const completes = async ([typed, line]: (typeof completed)[number], at: number) => {
    type(typed, at)
    let tries = 1
    const isSeen = () => {
      const found = lines().filter(row => row.startsWith(': ') && row.endsWith(` .${at}`))
      if (found.some(row => row.replace(/ +\.\d+$/, '') === `: marketplace ${line}`)) return true
      // A busy machine may answer too late for a keyboard.
      if (found.length === tries && tries++ < MOST_TRIES) type(typed, at)
      return false
    }
    await until(() => `${line}, but ${shell.shown()}`, isSeen)
  }
  const { rows, stop } = await rowsOfIds(folder)
  for (const [at, row] of [...completed, ...rows].entries()) await completes(row, at)
  shell.press('exit\n')
  await shell.ended
  await stop()
}

const MOST_TRIES = 20

if (isLong)
  inShell('zsh', 'a real zsh completes commands, flags and their values, and ids', (script, folder) =>
    completesOnTerminal('zsh -f -i', folder, `bindkey -e; autoload -Uz compinit && compinit -u -D; source ${script}`),
  )

inShell('bash', 'a real bash completes them, at its own breaks of words', (script, folder) =>
  completesOnTerminal('bash --norc --noprofile -i', folder, `set -o emacs; source ${script}`),
)

test('flags whose values are known are flags of their commands', async () => {
  const all = chapters.flatMap(([, records]) => records)
  for (const at of (await flagValues()).keys()) {
    const [, name, flag] = /^ (.+) (--[a-z-]+)$/.exec(at)!
    const { options } = all.find(record => record.name === name)!
    assert.ok(
      options.some(([flags]) => flags.startsWith(`${flag} <`)),
      at,
    )
  }
})

test('a shell that is not known is refused with those that are', async () => {
  const { code, error } = await answerHere('completion', 'tcsh')
  assert.is(code, 2)
  assert.is(error, 'completion takes bash, zsh, fish, pwsh, not tcsh.')
})

test('the manual has every command, those of a group on a page of its own, and troff has nothing to say against any page', () => {
  const pages = manPages(table)
  const macros = new Set<string | undefined>()
  for (const { name, options } of chapters.flatMap(([, records]) => records)) {
    const page = pages.get(name.includes(' ') ? `marketplace-${name.split(' ')[0]}` : 'marketplace')!
    assert.ok(page.includes(`.SH marketplace ${name.replaceAll('-', '\\-')}`), name)
    for (const [flags] of options)
      assert.match(`${page}${pages.get('marketplace')}`, `\n.B ${flags.replaceAll('-', '\\-')}\n`, `${name} ${flags}`)
  }
  for (const [name, page] of pages) {
    for (const [, macro] of page.matchAll(/^[.'](\S*)/gm)) macros.add(macro)
    assert.is(readFileSync(join('dist', 'man', `${name}.1`), 'utf8'), page, 'the build has written it')
  }
  assert.equal([...macros].sort(), ['B', 'BR', 'I', 'PP', 'SH', 'TH', 'TP', 'fi', 'nf'])
  if (isThere('groff')) {
    const input = [...pages.values()].join('')
    const { stdout, stderr, status } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input, encoding: 'utf8' })
    assert.is(status, 0)
    assert.is(stderr.replace(/^.*can't break line.*\n/gm, ''), '')
    assert.match(stdout, 'tasks review add')
  }
  // npm links what is named here alone.
  const { man } = JSON.parse(readFileSync('package.json', 'utf8'))
  assert.equal(
    man,
    [...pages.keys()].map(name => `./dist/man/${name}.1`),
  )
})

test('openapi and version print what this version is', async () => {
  const serve = JSON.parse((await runHere('openapi')).out)
  assert.ok(!Object.keys(serve.paths).some(path => path.startsWith('/api/dev/')))
  const dev = await runHere('openapi', '--mode', 'dev', '--base-url', 'https://market.example', '--json')
  assert.is(dev.out.split('\n').length, 2)
  assert.is(JSON.parse(dev.out).servers[0].url, 'https://market.example')
  assert.is((await runHere('version')).out, (await runHere('--version')).out)
  assert.is((await answerHere('version')).data.node, process.version)
})

test.run()
