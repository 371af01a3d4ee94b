/** Ways of who has no mouse: from one control to the next, with the focus seen at each. */
import type { Locator } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { Tab } from './tab.ts'

/** More than a page has on the way to any control of it. */
const MOST = 120

/**
 * What is wrong with how the focus is seen. A row or a label may show that of a control within. Nothing is wrong where nothing has it, between
 * the last control and the first.
 */
const UNSEEN = `(() => {
  const one = document.activeElement
  if (one === null || one === document.body) return ''
  const name = one.outerHTML.slice(0, 160)
  const isDrawn = part => {
    const { outlineStyle, outlineWidth, outlineColor, opacity } = getComputedStyle(part)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && !/, 0\\)$|transparent/.test(outlineColor) && opacity !== '0'
  }
  const shows = [one, one.closest('label'), one.closest('.ev'), one.closest('.find')].find(part => part && isDrawn(part))
  if (!shows) return 'It is not seen that this has the focus: ' + name
  const { left, top, width, height } = shows.getBoundingClientRect()
  const isThere = [0.5, 0.1, 0.9].some(x => [0.5, 0.1, 0.9].some(y => {
    const hit = document.elementFromPoint(left + width * x, top + height * y)
    return hit !== null && (shows.contains(hit) || hit.contains(shows))
  }))
  return isThere ? '' : 'This has the focus and is out of sight: ' + name
})()`

/** Fails unless whoever looks at the page sees what has the focus. */
export async function focusIsSeen({ page }: Tab): Promise<void> {
  assert.is(await page.evaluate(UNSEEN), '')
}

const hasFocus = async ({ page }: Tab, target: Locator) => (await page.locator(':focus').and(target).count()) > 0

/** Goes to a control by Tab, or back to it by Shift+Tab, and fails if it is not reached or something on the way hides that it has the focus. */
export async function tabTo(tab: Tab, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.first().waitFor()
  for (let steps = 0; steps < MOST; steps++) {
    await tab.press(key)
    await focusIsSeen(tab)
    if (await hasFocus(tab, target)) return
  }
  throw new Error(`${key} does not reach ${target}`)
}

/** All that Tab stops at, from the top of the page to its end. Fails if one of them hides that it has the focus, or keeps it. */
export async function tabThrough(tab: Tab): Promise<number> {
  const { page } = tab
  await page.evaluate("document.querySelector('.skip').focus(); globalThis.stops = new Set([document.activeElement])")
  for (let steps = 1; ; steps++) {
    await tab.press('Tab')
    await focusIsSeen(tab)
    const isNew = await page.evaluate(
      'document.activeElement !== document.body && stops.size < stops.add(document.activeElement).size',
    )
    if (!isNew) return steps
  }
}
