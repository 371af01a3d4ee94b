/** What we measure against: installed into this folder by the first run, never part of the package. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(import.meta.url)

export interface NativeStatement {
  all(...values: unknown[]): unknown[]
  run(...values: unknown[]): { changes: number }
}

/** The part of better-sqlite3 that is used; its own types are not installed where the code is checked. */
export interface NativeDatabase {
  prepare(sql: string): NativeStatement
  pragma(text: string, options?: { simple: boolean }): unknown
  exec(sql: string): void
  close(): void
}

/** Installs the peers with npm if they are not there. */
export function installPeers(): void {
  if (existsSync(`${folder}node_modules/better-sqlite3/build`) && existsSync(`${folder}node_modules/postgres`)) return
  console.log('Installing the peers into test/bench/node_modules (once) …')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: folder, stdio: 'inherit' })
}

export const openNative = (file: string): NativeDatabase => new (require('better-sqlite3'))(file)

export const peerVersion = (name: string): string => require(`${folder}node_modules/${name}/package.json`).version
