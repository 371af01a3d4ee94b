/** The screen of a live log on a terminal: its lines, and below them the key line where a person can press keys. Source: A-254. */
import { stripVTControlCharacters } from 'node:util'
import type { StampedEntry } from '../../market/log.ts'
import { entryJson } from '../../market/recording.ts'
import { Fault } from '../exit-codes.ts'
import { entryText } from '../log/entry-columns.ts'
import { entryLine } from '../log/entry-lines.ts'
import { terminalWidth } from '../log/lines.ts'
import { createUi, cursor, type Ui } from '../output/ui.ts'
import type { Choice, ShownDev } from './actions.ts'
import { BottomRows } from './bottom-rows.ts'
import { Counts } from './counts.ts'
import { bottomRows, keyHelp } from './key-line.ts'
import { type Action, type Deed, type Mode, type Press, pressed } from './key-presses.ts'
import { interrupt, type Keyboard, openKeyboard, quit } from './keyboard.ts'

/** Loaded by the first key: it needs what other commands do. */
const acting = () => import('./actions.ts')
type Acting = Awaited<ReturnType<typeof acting>>
const does = (named: keyof Acting['actions']) => async (dev: ShownDev, ui: Ui) =>
  (await acting()).actions[named](dev, ui)

const doing: Readonly<Record<Action, string>> = {
  resend: 'resending',
  choose: 'looking',
  test: 'testing',
  buyer: 'a buyer hires',
  clock: 'moving the clock',
  details: 'looking',
  console: 'opening',
  accounts: 'looking',
}

export class KeyScreen {
  readonly ui: Ui
  readonly #counts = new Counts()
  readonly #bottom: BottomRows
  readonly #busy = new Set<Action>()
  #mode: Mode<Choice> = { is: 'reading' }
  #filter = ''
  #hidden = 0
  #keyboard: Keyboard | null = null
  #dev: ShownDev | null = null
  #isClosed = false
  /** How far the clock of this dev was ahead when it last said something. */
  #aheadMs = 0
  #restoreErrors = () => {}

  constructor() {
    const { stdout } = process
    this.#bottom = new BottomRows(cursor.write, () => this.#rows())
    this.ui = createUi({
      isTTY: true,
      get columns() {
        return stdout.columns
      },
      write: text => this.#bottom.print(text),
    })
  }

  hear(entry: StampedEntry): void {
    this.#counts.add(entry)
    this.#aheadMs = entry.at - entry.realAt
    this.#bottom.refresh()
  }

  isWanted = (entry: StampedEntry, rows: readonly string[]): boolean => {
    if (this.#filter === '') return true
    const text = `${stripVTControlCharacters(rows.join('\n'))}\n${entryJson(entry)}`
    if (text.toLowerCase().includes(this.#filter.toLowerCase())) return true
    if (rows.length > 0) this.#hidden++
    return false
  }

  begin(dev: ShownDev): void {
    this.#dev = dev
    if (this.#keyboard || this.#isClosed) return
    this.#keyboard = openKeyboard(press => this.#press(press), this.close)
    if (!this.#keyboard) return
    this.#restoreErrors = cursor.takeErrors(text => this.#bottom.print(text))
    process.stdout.on('resize', this.#refresh)
    process.on('exit', this.close).on('uncaughtExceptionMonitor', this.close)
    this.#bottom.open()
  }

  close = (): void => {
    this.#isClosed = true
    this.#bottom.close()
    this.#restoreErrors()
    this.#keyboard?.close()
    this.#keyboard = null
    process.stdout.off('resize', this.#refresh)
    process.off('exit', this.close).off('uncaughtExceptionMonitor', this.close)
  }

  #refresh = () => this.#bottom.refresh()

  #rows(): string[] {
    const window = { columns: terminalWidth() ?? 0, rows: process.stdout.rows || 24 }
    const line = {
      counts: this.#counts,
      mode: this.#mode,
      filter: this.#filter,
      hidden: this.#hidden,
      busy: [...this.#busy].map(action => doing[action]),
    }
    return bottomRows(line, window, this.ui.colour)
  }

  #press(press: Press): void {
    const { mode, deed } = pressed(this.#mode, press)
    this.#mode = mode
    if (deed) this.#do(deed)
    this.#bottom.refresh()
  }

  #do(deed: Deed<Choice>): void {
    if (deed.does === 'filter') this.#filterBy(deed.text)
    else if (deed.does === 'help') for (const row of keyHelp) this.ui.raw(row)
    else if (deed.does === 'blank line') this.ui.line()
    else if (deed.does === 'interrupt') interrupt()
    else if (deed.does === 'quit') quit()
    else if (deed.does === 'suspend') this.#keyboard?.suspend(this.#bottom)
    else if (deed.does === 'resend chosen') this.#resend(deed.choice)
    else if (deed.does === 'choose') this.#act('choose', this.#choose)
    else this.#act(deed.does, does(deed.does))
  }

  #resend(choice: Choice): void {
    this.#act('resend', async dev => (await acting()).resendChosen(dev, choice))
  }

  #choose = async (dev: ShownDev): Promise<undefined> => {
    this.#mode = { is: 'choosing', choices: await (await acting()).choices(dev), at: 0 }
  }

  /** One at a time for each key. The log goes on meanwhile. */
  #act(action: Action, act: (dev: ShownDev, ui: Ui) => Promise<string | undefined>): void {
    if (!this.#dev || this.#busy.has(action)) return
    this.#busy.add(action)
    act(this.#dev, this.ui)
      .then(
        done => done && this.#say(done),
        error => this.#say(whyNot(error), true),
      )
      .finally(() => {
        this.#busy.delete(action)
        this.#bottom.refresh()
      })
  }

  #filterBy(text: string): void {
    if (text === this.#filter) return
    this.#filter = text
    this.#hidden = 0
    this.#say(text === '' ? 'All lines are shown again' : `Only lines with “${text}” are shown from here on`)
  }

  /** In the columns of the log. */
  #say(message: string, isTrouble = false): void {
    if (!this.#keyboard) return
    const realAt = Date.now()
    const at = realAt + this.#aheadMs
    const entry = { seq: 0, at, realAt, type: isTrouble ? 'warning' : 'info', message } as const
    const line = entryLine(entry, new Map())!
    for (const row of entryText(this.ui, { ...line, mark: isTrouble ? '!' : '›' }, entry, new Map(), terminalWidth()))
      this.ui.raw(row)
  }
}

function whyNot(error: Error): string {
  const hint = error instanceof Fault ? error.details.hint : undefined
  return [error.message.replace(/[.!]?$/, '.'), hint].filter(Boolean).join(' ')
}
