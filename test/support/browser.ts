/**
 * A browser that the packages of this project bring along. `CHROME_PATH` names another, for machines that those are not made for. Without
 * any, a test that needs one fails.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { PATIENCE_MS } from './patience.ts'

interface OpenBrowser {
  readonly browser: Browser
  close(): Promise<void>
}

export async function openBrowser(): Promise<OpenBrowser> {
  const { executablePath, args } = process.env.CHROME_PATH
    ? { executablePath: process.env.CHROME_PATH, args: [] }
    : await unpacked()
  const browser = await chromium.launch({ executablePath, args, headless: true, timeout: PATIENCE_MS })
  return { browser, close: () => browser.close() }
}

/** What axe has against a page as it is, with its own options. */
export async function violationsOf(page: Page, options: object = {}): Promise<string[]> {
  // By the debugger's way, so that the page's own policy stays as it is.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  // What is right is not told: axe would write down each part of it.
  return page.evaluate(
    `axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })})
      .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html)))`,
  )
}

const PACKAGE = '@sparticuz/chromium'

/** It takes two libraries along that a machine may not have where it believes itself on one of those that lack them. */
const LACKING = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' }

/** Once for all runs of a checkout, as it takes seconds. */
async function unpacked() {
  const { version } = JSON.parse(readFileSync(join('node_modules', PACKAGE, 'package.json'), 'utf8'))
  const folder = resolve('node_modules', '.cache', `browser-${version}`)
  if (!existsSync(folder)) await unpackInto(folder)
  const before = process.env.TMPDIR
  // There it finds itself.
  Object.assign(process.env, LACKING, { TMPDIR: folder })
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    packed.setGraphicsMode = false
    const executablePath = await packed.executablePath()
    return { executablePath, args: packed.args.filter(flag => flag !== '--disable-web-security') }
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/** Another run may do the same at the same moment, and must not find it half done. */
async function unpackInto(folder: string): Promise<void> {
  mkdirSync(join(folder, '..'), { recursive: true })
  const own = mkdtempSync(`${folder}-`)
  const script = `const { default: packed } = await import('${PACKAGE}'); await packed.executablePath()`
  const env = { ...process.env, ...LACKING, TMPDIR: own }
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
  // Its own file names folders of another machine.
  const fonts = join(folder, 'fonts')
  writeFileSync(
    join(own, 'fonts', 'fonts.conf'),
    `<fontconfig><dir>${fonts}</dir><cachedir>${fonts}/cache</cachedir></fontconfig>`,
  )
  try {
    renameSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}
