/**
 * A browser that the packages of this project bring along. `CHROME_PATH` names another, for machines that those are not made for. Without
 * any, a test that needs one fails.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { PATIENCE_MS } from './patience.ts'

interface OpenBrowser {
  readonly browser: Browser
  close(): Promise<void>
}

export async function openBrowser(): Promise<OpenBrowser> {
  // It is unpacked under fixed names, which another run must not find half done.
  const folder = mkdtempSync(join(tmpdir(), 'browser-'))
  const { executablePath, args } = process.env.CHROME_PATH
    ? { executablePath: process.env.CHROME_PATH, args: [] }
    : await unpacked(folder)
  const browser = await chromium.launch({ executablePath, args, headless: true, timeout: PATIENCE_MS })
  return {
    browser,
    async close() {
      await browser.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function unpacked(folder: string) {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  // Then it unpacks the libraries too that this machine may not have.
  process.env.AWS_EXECUTION_ENV ??= `AWS_Lambda_nodejs${process.versions.node.split('.', 1)[0]}.x`
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    packed.setGraphicsMode = false
    const executablePath = await packed.executablePath()
    // Its own file names folders of another machine.
    const fonts = join(folder, 'fonts')
    writeFileSync(
      join(fonts, 'fonts.conf'),
      `<fontconfig><dir>${fonts}</dir><cachedir>${fonts}/cache</cachedir></fontconfig>`,
    )
    return { executablePath, args: packed.args.filter(flag => flag !== '--disable-web-security') }
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
