/** A project that has installed the package as it would be published, and a shell in it that reaches nothing but this machine. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Packs what is built. Returns the path of the tarball. */
function pack(folder: string): string {
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder])
  return join(folder, JSON.parse(packed.toString())[0].filename)
}

/** Asks the registry for nothing that `npm ci` has left in the cache. `--prefix`, as `npm test` names its own folder to what it runs. */
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--save-dev', '--fetch-retries=0']

/** `npm install` of the tarball. Without a registry and a cache the packages are those that are installed here already. */
function install(tarball: string, folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const env = { ...process.env, ...JSON.parse(process.env.TEST_REGISTRY_ACCESS ?? '{}') }
  const { status, stderr } = spawnSync('npm', [...INSTALL, `--prefix=${folder}`, tarball], { encoding: 'utf8', env })
  if (status === 0) return
  if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.test(stderr)) throw new Error(stderr)
  console.log('\nnot tried: npm install of the tarball, as no registry is in reach; its dependencies are linked')
  linkByHand(tarball, join(folder, 'node_modules'))
}

/** Those packages alone that the tarball says it depends on. */
function linkByHand(tarball: string, modules: string): void {
  const own = join(modules, 'agent-marketplace')
  rmSync(modules, { recursive: true, force: true })
  mkdirSync(own, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
  const { dependencies, bin } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(modules, name, '..'), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
  mkdirSync(join(modules, '.bin'))
  symlinkSync(join(own, bin.marketplace), join(modules, '.bin', 'marketplace'))
}

/**
 * A network of its own, in which there is nothing but loopback: whatever the program starts, in whatever language, reaches nobody. Where
 * the system allows none, each Node refuses by itself, which stops all that the package can start.
 */
const NAMESPACE = ['unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']

const { PATH, HOME } = process.env
/** Whether npm itself is the newest is no concern of the package. */
const env = { HOME, NO_COLOR: '1', MARKETPLACE_PORT: '0', npm_config_update_notifier: 'false' }

const mayUnshare = (): boolean => {
  const [program = '', ...args] = [...NAMESPACE, 'true']
  return spawnSync(program, args).status === 0
}

export interface Said {
  readonly status: number | null
  readonly said: string
  /** Connections that a Node has tried to open to other machines, a line for each. */
  readonly called: string
}

export function cleanProject() {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-clean-'))
  const project = join(folder, 'project')
  mkdirSync(project)
  const fence = mayUnshare() ? NAMESPACE : []
  if (fence.length === 0) console.log('\nnot tried: a network without routes; only Node itself refuses to call others')
  const noted = join(folder, 'called')
  const guard = `--import ${new URL('../../test/support/loopback-only.mjs', import.meta.url).href}`
  const path = `${join(project, 'node_modules', '.bin')}:${PATH}`
  return {
    folder: project,
    install: () => install(pack(folder), project),
    /** Runs a script as in a pipeline: the first command that fails ends it. */
    bash(script: string, more: NodeJS.ProcessEnv = {}): Said {
      writeFileSync(noted, '')
      const [program = '', ...args] = [...fence, 'bash', '--norc', '-euo', 'pipefail', '-c', script]
      const { status, stdout, stderr } = spawnSync(program, args, {
        ...{ cwd: project, env: { ...env, PATH: path, NODE_OPTIONS: guard, NOTED: noted, ...more }, encoding: 'utf8' },
      })
      return { status, said: stdout + stderr, called: readFileSync(noted, 'utf8') }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
