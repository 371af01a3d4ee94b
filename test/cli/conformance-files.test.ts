// engines: embedded; process: shared
/** What `conformance` reads beside the agent: its settings, its baseline, and flags that name checks and reports. Each mistake is said with its place. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { baselineIn, writeBaseline } from '../../src/cli/conformance/baseline-file.ts'
import { checkNamed, chosenChecks, partInWords } from '../../src/cli/conformance/chosen-checks.ts'
import { refuseMixed } from '../../src/cli/conformance/listed-agent.ts'
import { ensureWritable, lostOf, refuseSharedFiles, reportsIn } from '../../src/cli/conformance/reports.ts'
import { settingsIn } from '../../src/cli/conformance/settings-file.ts'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { reportNames } from '../../src/conform/reports/names.ts'

const folder = mkdtempSync(join(tmpdir(), 'marketplace-files-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

function fileOf(text: string, name = 'agent.yaml'): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const said = (work: () => unknown): string => {
  try {
    work()
    return 'nothing'
  } catch (error) {
    return (error as Error).message.replaceAll(folder, 'FOLDER')
  }
}

test('a file of settings is read whole; what it leaves out is as of an agent of which nothing is said', () => {
  assert.equal(settingsIn(fileOf('')), {
    ...{ start: undefined, url: undefined, requirements: undefined, timeout: undefined },
    declared: nothingDeclared,
  })
  fileOf('A letter to an aunt.', 'letter.txt')
  const path = fileOf(`
requirements: '2026-11'
start: node agent.js
url: http://localhost:3000/webhook
timeout: '10m'
patience: { work: 90s, quiet: 250ms }
accepts:
  - { title: A letter, description: { file: letter.txt }, requirements: Two pages., price: 700 }
  - { title: Another, description: Write another letter. }
rejects: [{ title: A poem, description: Write a poem of ten lines. }]
revisions: false
messages: silent
hires: true
work: manual
vary: false
`)
  const usual = { requirements: '', price: 500 }
  const letter = { kind: 'accepts', title: 'A letter', description: 'A letter to an aunt.', requirements: 'Two pages.' }
  assert.equal(settingsIn(path), {
    ...{ start: 'node agent.js', url: 'http://localhost:3000/webhook', requirements: '2026-11', timeout: 600_000 },
    declared: {
      patience: { ...nothingDeclared.patience, work: 90_000, quiet: 250 },
      accepts: [
        { ...letter, price: 700 },
        { ...usual, kind: 'accepts', title: 'Another', description: 'Write another letter.' },
      ],
      rejects: [{ ...usual, kind: 'rejects', title: 'A poem', description: 'Write a poem of ten lines.' }],
      ...{ revisions: false, messages: 'silent', hires: true, work: 'manual', vary: false },
      sample: { ...letter, price: 700 },
    },
  })
})

test('what is wrong in a file of settings is said with its place', () => {
  const of = (text: string) => said(() => settingsIn(fileOf(text)))
  assert.is(of('patience: { work: soon }'), `FOLDER/agent.yaml: patience.work: ${durationWords('soon')}`)
  assert.is(of('timeout: soon'), `FOLDER/agent.yaml: timeout: ${durationWords('soon')}`)
  assert.match(of('acepts: []'), /^FOLDER\/agent\.yaml: .*"acepts".*\.$/)
  assert.match(
    of('accepts: [{ title: A, description: Write another letter. }]'),
    /^FOLDER\/agent\.yaml: accepts\.0\.title: /,
  )
  assert.match(of('messages: loud'), /^FOLDER\/agent\.yaml: messages: .*"replies"\|"silent"\.$/)
  assert.match(of('a: [1'), /^FOLDER\/agent\.yaml is no YAML: /)
  fileOf('Short', 'short.txt')
  assert.match(
    of('accepts: [{ title: A letter, description: { file: short.txt } }]'),
    /^FOLDER\/short\.txt: a description has \d+ to \d+ characters\.$/,
  )
  const none = of('accepts: [{ title: A letter, description: { file: none.txt } }]')
  assert.is(none, "FOLDER/none.txt can't be read: there is no such file or folder.")
  const absent = said(() => settingsIn(join(folder, 'absent.yaml')))
  assert.is(absent, "FOLDER/absent.yaml can't be read: there is no such file or folder.")
})

const durationWords = (text: string) => `A duration is written like 90s, 15m, 48h, 7d or 1h30m, not ${text}.`

test('a baseline is read as it was written, and what it is says how many checks it excuses', () => {
  const path = join(folder, 'written.yaml')
  const of = (count: string) =>
    `${path} excuses ${count} why. This run ends with exit code 0, whatever is broken; the next one is held to the file.`
  const one = { 'sig.valid': { verdict: 'fail', why: 'old', until: '2027-01-31' } } as const
  const two = { ...one, 'dup.retry': { verdict: 'warn', why: 'slow' } } as const
  assert.is(writeBaseline(path, one), of('one check: say in its line'))
  assert.is(
    readFileSync(path, 'utf8'),
    `# Checks that fail for now, and why. A line that is no longer true fails the run.
# Each may have "until: 2027-01-31", the last day on which it counts.
sig.valid:
  verdict: fail
  why: old
  until: 2027-01-31
`,
  )
  assert.is(writeBaseline(path, two), of('2 checks: say in each line'))
  assert.equal(baselineIn(path, false), two)
  const nothing = `${path} is written and excuses nothing, as nothing is broken. This run ends with exit code 0.`
  assert.is(writeBaseline(path, {}), nothing)
  assert.equal(baselineIn(path, false), {})
  assert.equal(baselineIn(join(folder, 'new.yaml'), true), {}, 'it is made')
  const wrong = (text: string) => said(() => baselineIn(fileOf(text, 'b.yaml'), false))
  const absent = said(() => baselineIn(join(folder, 'new.yaml'), false))
  assert.is(absent, "FOLDER/new.yaml can't be read: there is no such file or folder.")
  assert.match(
    said(() => baselineIn(folder, true)),
    /^FOLDER can't be read: /,
  )
  assert.is(
    wrong('sig.valid: { verdict: fail, why: old, until: soon }'),
    'FOLDER/b.yaml: sig.valid.until: until is a day, like 2027-01-31.',
  )
  assert.match(wrong('sig.valid: { verdict: fail, why: "" }'), /^FOLDER\/b\.yaml: sig\.valid\.why: /)
  assert.match(wrong('sig.valid: [1'), /^FOLDER\/b\.yaml is no YAML: /)
})

test('checks are named by id or by area, and an unknown one is told with what is near', () => {
  const ids = (...flags: Parameters<typeof chosenChecks>) => chosenChecks(...flags).map(({ id }) => id)
  const sig = checks.map(({ id }) => id).filter(id => id.startsWith('sig.'))
  assert.equal(
    ids({}),
    checks.map(({ id }) => id),
  )
  assert.equal(ids({ only: ['sig,dup.retry'] }).sort(), [...sig, 'dup.retry'].sort())
  assert.equal(ids({ only: ['sig'], skip: sig.slice(1) }), sig.slice(0, 1))
  assert.equal(ids({}, [checkNamed('sig.valid')]), ['sig.valid'])
  const areas = [...new Set(checks.map(({ id }) => id.split('.')[0]))].join(', ')
  for (const [work, words] of [
    [() => checkNamed('sig.vald'), 'There is no check sig.vald. Did you mean sig.valid?'],
    [() => checkNamed('retry'), 'There is no check retry. Did you mean dup.retry?'],
    [() => chosenChecks({ only: ['nonsense'] }), `There is no check nonsense. The areas: ${areas}; --list shows all.`],
    [() => chosenChecks({ only: [','] }), '--only and --skip take ids of checks, or areas, such as sig or dup.retry.'],
    [() => chosenChecks({ only: ['sig'], skip: ['sig'] }), 'No check is left: --skip names all that --only does.'],
    [() => chosenChecks({ skip: areas.split(', ') }), 'No check is left: --skip names all that there are.'],
  ] as const)
    assert.is(said(work), words)
  assert.is(partInWords({}, checks), null)
  assert.is(partInWords({ only: ['sig'] }, checks.slice(1)), null)
  assert.is(
    partInWords({}, checks.slice(1)),
    `The run was asked for ${checks.length - 1} of ${checks.length} checks, and the report is about those: --only names others.`,
  )
})

test('reports have a name and a file each, and no file is written twice', () => {
  assert.equal(reportsIn(['junit=out/a=b.xml', 'github']), [
    { name: 'junit', path: 'out/a=b.xml' },
    { name: 'github', path: null },
  ])
  const shared = (...others: (readonly [string, string | undefined])[]) =>
    said(() => refuseSharedFiles(reportsIn([`junit=${folder}/a`]), others))
  for (const [words, text] of [
    [
      said(() => reportsIn(['paper'])),
      `--report knows no paper. It takes ${reportNames.join(', ')}, or one with a file: junit=out/junit.xml.`,
    ],
    [said(() => reportsIn(['junit='])), '--report NAME=FILE needs the file behind =.'],
    [
      said(() => reportsIn(['junit', 'github'])),
      'Only one report fits on stdout: give the others a file, as --report junit=out/junit.xml.',
    ],
    [shared(['--history', `${folder}/b`], ['--config', undefined]), 'nothing'],
    [
      shared(['--history', `${folder}/x/../a`]),
      "--history and --report junit can't be one file: give each its own, not FOLDER/a twice.",
    ],
    [said(() => ensureWritable('--save-history', folder)), '--save-history: FOLDER is a folder; give a file in it.'],
    [said(() => ensureWritable('--save-history', join(folder, 'new', 'a'))), 'nothing'],
  ])
    assert.is(words, text)
  const kept = join(folder, 'kept')
  assert.equal(
    lostOf('--report junit', kept, () => writeFileSync(kept, 'x')),
    [],
  )
  const lost = lostOf('--report junit', folder, () => writeFileSync(folder, 'x'))
  assert.match(lost[0]!, /^--report junit: \S+ can't be written: .+\.$/)
})

test('what belongs to a run, and what to an agent that is listed, are told apart', () => {
  const AWAY = '--history judges what was kept, and plays nothing: leave out --'
  for (const flags of [{}, { start: 'x' }, { agent: 'a', spend: '5.00' }, { history: 'h' }]) refuseMixed(flags)
  for (const flag of ['spend', 'profile', 'key', 'as'])
    assert.is(
      said(() => refuseMixed({ [flag]: 'x' })),
      `--${flag} goes with --agent, which names an agent that a marketplace lists.`,
    )
  for (const flag of ['start', 'url', 'seed', 'repeat', 'bail', 'timeout'])
    assert.is(
      said(() => refuseMixed({ history: 'h', [flag]: 'x' })),
      `${AWAY}${flag}, or --history.`,
    )
  const ofListed = { secret: 'secret', secretFile: 'secret', history: 'history', start: 'start', repeat: 'repeat' }
  for (const [flag, word] of Object.entries({
    ...ofListed,
    requirements: 'requirements',
    writeBaseline: 'write-baseline',
  }))
    assert.match(
      said(() => refuseMixed({ agent: 'a', [flag]: 'x' })),
      new RegExp(`^--.*${word}.*[.]$`),
      flag,
    )
})

test.run()
