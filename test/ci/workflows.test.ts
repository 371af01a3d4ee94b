// engines: embedded; process: own
/**
 * Workflows and actions, of this repository and to copy. No machine of ours is their host, so each is read for what a host would refuse,
 * and its scripts are run with an npm and an npx that only note what they are asked.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { wholeTable } from '../../src/cli/command-table.ts'
import { Stage } from './stage.ts'

interface Step {
  uses?: string
  with?: Record<string, unknown>
  run?: string
  shell?: string
  env?: Record<string, string>
}

interface Job {
  'runs-on': string
  'timeout-minutes'?: number
  strategy?: { matrix: Record<string, readonly string[]> }
  steps: Step[]
}

interface Workflow {
  permissions?: Record<string, string>
  jobs: Record<string, Job>
}

interface Action {
  inputs: Record<string, { default: unknown }>
  runs: { using: string; steps: Step[] }
}

const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.yml', '*.yaml'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map(file => ({ file, text: readFileSync(file, 'utf8') }))
  .map(({ file, text }) => ({ file, text, made: parse(text) }))
const workflows = sources.filter(({ made }) => made?.jobs) as { file: string; text: string; made: Workflow }[]
const actions = sources.filter(({ made }) => made?.runs) as { file: string; text: string; made: Action }[]
const gitlab = sources.filter(({ made }) => made?.conformance?.script)
const jobs = workflows.flatMap(({ file, made }) => Object.values(made.jobs).map(job => ({ file, job })))
const steps = [
  ...jobs.flatMap(({ file, job }) => job.steps.map(step => ({ file, step }))),
  ...actions.flatMap(({ file, made }) => made.runs.steps.map(step => ({ file, step }))),
]
const matrix = workflows.find(({ file }) => file === '.github/workflows/ci.yml')!.made.jobs.test!.strategy!.matrix
const own = JSON.parse(readFileSync('package.json', 'utf8'))

const test = suite('workflows')
const stage = new Stage()
test.after(() => stage.remove())

test('all of them are looked at', () => {
  const looked = [...workflows, ...actions, ...gitlab].map(({ file }) => file).sort()
  assert.equal(looked, [
    '.github/workflows/ci.yml',
    '.github/workflows/release.yml',
    'examples/ci/action.yml',
    'examples/ci/github-workflow.yml',
    'examples/ci/gitlab.yml',
  ])
})

/** Words that the host knows; it refuses a file with another one. */
const words = {
  workflow: ['name', 'on', 'permissions', 'env', 'defaults', 'concurrency', 'jobs'],
  job: ['name', 'needs', 'if', 'permissions', 'runs-on', 'timeout-minutes', 'strategy', 'env', 'outputs', 'steps'],
  action: ['name', 'description', 'inputs', 'outputs', 'runs'],
  step: ['id', 'if', 'name', 'uses', 'with', 'run', 'shell', 'working-directory', 'env', 'timeout-minutes'],
} as const

const allIn = (file: string, kind: keyof typeof words, record: object) => {
  for (const word of Object.keys(record))
    assert.ok((words[kind] as readonly string[]).includes(word), `${file}: ${word}`)
}

test('every word of a workflow, a job, a step and an action is one that the host knows', () => {
  for (const { file, made } of workflows) allIn(file, 'workflow', made)
  for (const { file, job } of jobs) allIn(file, 'job', job)
  for (const { file, made } of actions) allIn(file, 'action', made)
  for (const { file, step } of steps) allIn(file, 'step', step)
  for (const { file, made } of actions) {
    assert.is(made.runs.using, 'composite')
    // In an action the host has no default.
    for (const step of made.runs.steps) assert.is(step.shell, 'bash', file)
  }
})

/** The first version of each action that runs on Node 24, as hosts have removed Node 20, and what we give it. */
const used: Readonly<Record<string, { since: number; inputs: readonly string[] }>> = {
  'actions/checkout': { since: 5, inputs: [] },
  'actions/setup-node': { since: 5, inputs: ['node-version', 'cache'] },
  'actions/upload-artifact': { since: 6, inputs: ['name', 'path'] },
}

test('a step runs a script or an action that there is, of a version that hosts still run, with inputs that it has', () => {
  for (const { file, step } of steps) {
    assert.is(Number(step.uses !== undefined) + Number(step.run !== undefined), 1, file)
    if (step.uses === undefined) continue
    const given = Object.keys(step.with ?? {})
    if (step.uses.startsWith('./')) {
      const action = actions.find(({ text }) => text.includes(`${step.uses!.slice(2)}/action.yml`))
      assert.ok(action, `${file}: ${step.uses} is where an action says that it is copied to`)
      for (const name of given) assert.ok(name in action!.made.inputs, `${file}: ${name}`)
      continue
    }
    const [, name, version] = /^([\w-]+\/[\w-]+)@v(\d+)$/.exec(step.uses) ?? []
    const known = used[name!]
    assert.ok(known && Number(version) >= known.since, `${file}: ${step.uses}`)
    for (const input of given) assert.ok(known!.inputs.includes(input), `${file}: ${step.uses} with ${input}`)
  }
})

test('each job has the repository and a Node of the matrix before it runs anything, on a system that has bash', () => {
  for (const { file, job } of jobs) {
    assert.is(job['runs-on'], 'ubuntu-latest', file)
    const [checkout, node, ...rest] = job.steps
    assert.match(checkout!.uses ?? '', 'actions/checkout@', file)
    assert.match(node!.uses ?? '', 'actions/setup-node@', file)
    assert.ok(
      rest.some(({ run }) => run),
      file,
    )
    const version = String(node!.with!['node-version'])
    assert.ok(/^\$\{\{ matrix\.node \}\}$/.test(version) || matrix.node!.includes(version), `${file}: Node ${version}`)
    if (node!.with!.cache) assert.ok(existsSync('package-lock.json'))
  }
})

test('the matrix begins with the Node that package.json allows, and names each line that people have', () => {
  // As texts: 20.10 as a number would be 20.1.
  assert.equal(matrix.node, ['20.19', '22', '24', '26'])
  assert.is(own.engines.node, `>=${matrix.node![0]}`)
  assert.ok(matrix.node!.includes(readFileSync('.nvmrc', 'utf8').trim()))
})

test('what is put in from outside has a name that there is', () => {
  for (const { file, text, made } of [...workflows, ...actions]) {
    const { jobs = {}, inputs = {} } = made as Partial<Workflow & Action>
    const lists = Object.values(jobs).flatMap(({ strategy }) => Object.keys(strategy?.matrix ?? {}))
    const known = [
      'github.ref',
      ...lists.map(name => `matrix.${name}`),
      ...Object.keys(inputs).map(name => `inputs.${name}`),
    ]
    for (const [, name] of text.matchAll(/\$\{\{(.*?)\}\}/g))
      assert.ok(known.includes(name!.trim()), `${file}: ${name}`)
  }
})

test('a workflow may read, and do no more; one that publishes may also say who it is', () => {
  for (const { file, made } of workflows) {
    const publishes = Object.values(made.jobs).some(job => job.steps.some(({ run }) => run?.includes('--provenance')))
    assert.equal(made.permissions, { contents: 'read', ...(publishes && { 'id-token': 'write' }) }, file)
  }
})

test('a job of ours ends by itself', () => {
  for (const { file, job } of jobs) if (file.startsWith('.github')) assert.ok(job['timeout-minutes']! > 30, file)
})

/** Of a release of 1.2.3. */
const HOST = {
  GITHUB_REF_NAME: 'v1.2.3',
  GITHUB_SERVER_URL: 'https://host.example',
  GITHUB_REPOSITORY: 'somebody/agent-marketplace',
}

function release(version: string) {
  stage.change('package.json', text => JSON.stringify({ ...JSON.parse(text), version }))
  stage.change('CHANGELOG.md', text => text.replace(/^## \[(?:Unreleased|\d+\.\d+\.\d+)\]/m, `## [${version}]`))
}

/** Texts of variables that a step has, as its host fills them in. */
const filled = ({ env = {} }: Step, inputs: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(env).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ inputs\.(\w+) \}\}/, (_, key) => inputs[key]!),
    ]),
  )

const publishing = execFileSync('npm', ['publish', '--help'], { encoding: 'utf8' })

/** Whether npm or the program does what it is asked. What npm would then do is `.ci/run` itself, or the release. */
async function isKnown(line: string): Promise<boolean> {
  const [program, verb, ...rest] = line.split(' ')
  if (program === 'npx') return verb === '--no-install' && rest[0] === 'marketplace' && isCommand(rest.slice(1))
  if (verb === 'run') return rest[0]! in own.scripts
  if (verb === 'ci') return existsSync('package-lock.json')
  if (verb === 'install') return /@\d+$/.test(line)
  if (verb === 'publish') return rest.every(word => !word.startsWith('--') || publishing.includes(`[${word}`))
  return verb === 'pkg' && rest[0] === 'set'
}

async function isCommand([name, ...rest]: readonly string[]): Promise<boolean> {
  const records = (await wholeTable()).chapters.flatMap(([, all]) => all)
  const flags = records.find(record => record.name === name)?.options.map(([flag]) => flag.split(/[ ,]/)[0])
  return rest.every(word => !word.startsWith('--') || flags?.includes(word) === true)
}

const scripts = [
  ...steps.flatMap(({ file, step }) => (step.run === undefined ? [] : [{ file, step, run: step.run }])),
  ...gitlab.flatMap(({ file, made }) =>
    (made.conformance.script as string[]).map(run => ({ file, step: {} as Step, run })),
  ),
]

test('each script runs to its end, and asks npm and the program for what there is', async () => {
  release('1.2.3')
  const asked = new Set<string>()
  for (const { file, step, run } of scripts) {
    const inputs = { start: 'node agent.mjs', requirements: '2026-12', timeout: '10m', folder: '.' }
    const { status, said } = stage.play(run, { ...HOST, ...filled(step, inputs) })
    assert.is(status, 0, `${file}: ${run}\n${said}`)
    for (const { line } of stage.calls()) {
      assert.ok(await isKnown(line), `${file}: ${line}`)
      asked.add(line)
    }
  }
  assert.ok(asked.has('npm publish --provenance --access public') && asked.has('npm run test -- --whole --again'))
  assert.ok([...asked].some(line => line.includes('--start node agent.mjs --requirements 2026-12 --timeout 10m')))
  // The registry compares it with the repository that the statement names.
  const { repository } = JSON.parse(stage.read('package.json'))
  assert.equal(repository, { type: 'git', url: 'git+https://host.example/somebody/agent-marketplace.git' })
})

test('a script that names nothing that there is would be noticed', async () => {
  for (const line of ['npm run tests', 'npm publish --provenence', 'npx marketplace demo', 'npm audit'])
    assert.not.ok(await isKnown(line), line)
  assert.not.ok(await isKnown('npx --no-install marketplace conformance --reports github'))
  assert.is.not(stage.play('echo "$GITHUB_REF_NAMES"', HOST).status, 0)
})

test('a release is refused before anything runs if its tag is another version, or the changelog does not name it', () => {
  const { steps: all } = workflows.find(({ file }) => file.endsWith('release.yml'))!.made.jobs.publish!
  const runs = all.flatMap(({ run }) => run ?? [])
  const before = runs.slice(0, runs.indexOf('bash .ci/run'))
  const refused = (env: NodeJS.ProcessEnv) => before.filter(run => stage.play(run, env).status !== 0).length
  release('1.2.3')
  assert.is(refused(HOST), 0)
  assert.is(refused({ ...HOST, GITHUB_REF_NAME: 'v1.2.4' }), 2)
  stage.change('CHANGELOG.md', text => text.replace('## [1.2.3]', '## [Unreleased]'))
  assert.is(refused(HOST), 1)
})

test.run()
