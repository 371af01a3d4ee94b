/** Bugs of the judge itself. Each is put into a copy of the source, where the proof that is about it must fail. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Play } from './play.ts'

interface JudgeMutant {
  readonly bug: string
  /** In src/. */
  readonly file: string
  /** Stands there once. */
  readonly right: string
  readonly wrong: string
  /** A part of the names of the plays that notice it. */
  readonly noticed: string
}

const judgeMutants: readonly JudgeMutant[] = [
  {
    bug: 'exit codes are swapped',
    file: 'cli/commands/conformance.ts',
    right: 'good: exitCodes.ok,\n  bad: exitCodes.check,',
    wrong: 'good: exitCodes.check,\n  bad: exitCodes.ok,',
    noticed: 'command: a right agent',
  },
  {
    bug: 'a check always passes',
    file: 'conform/judge.ts',
    right: 'if (finding.holds === true) return',
    wrong: 'if (finding.holds !== null) return',
    noticed: 'verifies-only-if-signed',
  },
  {
    bug: 'a fault never happens',
    file: 'conform/lane/callback-front.ts',
    right: 'if (!one) return null',
    wrong: 'if (!one || one) return null',
    noticed: 'follows-redirects',
  },
  {
    bug: 'an excuse that is not needed goes unnoticed',
    file: 'conform/baseline.ts',
    right: 'else if (now && isTold(now.verdict))',
    wrong: 'else if (now && !now)',
    noticed: 'command: an excuse that is not needed',
  },
  {
    bug: 'JUnit has no failures',
    file: 'conform/reports/junit.ts',
    right: "failure: { '@type'",
    wrong: "properties: { '@type'",
    noticed: 'command: a bug gives 3',
  },
]

const COPIED = ['bin', 'fixtures', 'src', 'test/conform', 'package.json', 'tsconfig.json']

export const judgePlays: readonly Play[] = judgeMutants.map(mutant => ({
  name: `judge: ${mutant.bug}`,
  async faults() {
    const { code, out } = await proofWith(mutant)
    if (code !== 0 && /^FAIL /m.test(out)) return []
    return [`nothing notices it (exit code ${code}): ${out}`]
  },
}))

async function proofWith({ file, right, wrong, noticed }: JudgeMutant): Promise<{ code: number; out: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'judge-'))
  try {
    for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    const path = join(folder, 'src', file)
    const pieces = readFileSync(path, 'utf8').split(right)
    if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times: ${right}`)
    writeFileSync(path, pieces.join(wrong))
    return await proof(folder, noticed)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const proof = (cwd: string, part: string) =>
  new Promise<{ code: number; out: string }>(resolve => {
    const words = ['--import', 'tsx', 'test/conform/mutants/run.ts', part]
    execFile(process.execPath, words, { cwd }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out: out + err })
    })
  })
