/** A folder as a CI service has it after the checkout, in which npm and npx note what they are asked, and do nothing of it. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What a step or .ci/run needs of the repository. */
const FILES = ['.ci', '.github', 'CHANGELOG.md', 'package.json']

/** `FAILS`: a pattern of calls that end with 1. What sets fields of package.json is really done. */
const NPM = `#!/bin/sh
echo "$(command -v node)|npm $*" >>"$NOTED"
case "npm $*" in $FAILS) exit=1 ;; *) exit=0 ;; esac
case "$1 $2" in
  'run test'*) echo "$((3 - exit)) passed, $exit failed" ;;
  pkg*) PATH="\${PATH#*:}" exec npm "$@" ;;
  install*)
    while [ "$#" -gt 0 ] && [ "$1" != --prefix ]; do shift; done
    mkdir -p "$2/node_modules/.bin" && ln -s "$(command -v node)" "$2/node_modules/.bin/node" ;;
esac
exit "$exit"
`
const NPX = `#!/bin/sh
echo "$(command -v node)|npx $*" >>"$NOTED"
`

export interface Played {
  readonly status: number | null
  readonly said: string
}

export interface Call {
  /** The program that \`node\` was for it. */
  readonly node: string
  readonly line: string
}

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'marketplace-ci-'))
  readonly #noted = join(this.folder, 'noted')

  constructor() {
    for (const file of FILES) cpSync(file, join(this.folder, file), { recursive: true })
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'))
    const bin = join(this.folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'npm'), NPM, { mode: 0o755 })
    writeFileSync(join(bin, 'npx'), NPX, { mode: 0o755 })
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }

  change(file: string, work: (text: string) => string): void {
    writeFileSync(join(this.folder, file), work(this.read(file)))
  }

  /** As a service runs a step; a variable that nobody has set ends it too. */
  play(script: string, env: NodeJS.ProcessEnv = {}): Played {
    writeFileSync(this.#noted, '')
    const { PATH, HOME } = process.env
    const given = { PATH: `${join(this.folder, 'bin')}:${PATH}`, HOME, NOTED: this.#noted, FAILS: '', ...env }
    const bash = ['--noprofile', '--norc', '-euo', 'pipefail', '-c', script]
    const { status, stdout, stderr } = spawnSync('bash', bash, { cwd: this.folder, env: given, encoding: 'utf8' })
    return { status, said: stdout + stderr }
  }

  /** What npm and npx were asked by what was played last. */
  calls(): Call[] {
    const lines = this.read('noted').split('\n').filter(Boolean)
    return lines.map(line => ({ node: line.slice(0, line.indexOf('|')), line: line.slice(line.indexOf('|') + 1) }))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
