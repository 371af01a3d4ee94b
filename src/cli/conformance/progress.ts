/** The progress of a run: each broken check as soon as that is sure, and what is played. */

import type { History, Recorded } from '../../conform/history/history.ts'
import type { Baseline } from '../../conform/judging/baseline.ts'
import type { Check, Level } from '../../conform/judging/check.ts'
import { judge } from '../../conform/judging/judge.ts'
import { those, withLevels, withPrerequisites } from '../../conform/judging/selection.ts'
import { SURE_MS, slownessInWords } from '../../conform/judging/time-limit.ts'
import { censusOf } from '../../conform/listed-agent/checks.ts'
import type { Wait } from '../../conform/listed-agent/retries.ts'
import { durationInWords } from '../output/numbers.ts'
import type { CommandOutput } from '../output/output.ts'
import { type Progress, showProgress } from '../output/progress.ts'
import { paragraph, plain } from '../output/ui.ts'
import type { TellTime } from './time-limit.ts'

interface LiveOptions {
  /** The first broken must ends the run. */
  readonly bail: boolean
  stop(): void
}

interface About {
  readonly chosen: readonly Check[]
  readonly baseline: Baseline
  /** By the set of requirements. */
  readonly levels?: Readonly<Record<string, Level>> | undefined
  /** How many scenarios there are; undefined: that is not known before. */
  readonly count?: number | undefined
}

/** So often it says besides why it takes so long, and for how long at most. */
const WHOLE_WORD_MS = 60_000

export class Live {
  readonly #output: CommandOutput
  readonly #options: LiveOptions
  readonly #about: About
  readonly #progress: Progress
  /** Checks whose scenarios have ended, and those of all that come before them, and since when they are broken. */
  readonly #watched = new Map<string, number | null>()
  readonly #played = new Set<string>()
  #hasTold = false
  #history: History | null = null

  private constructor(output: CommandOutput, options: LiveOptions, about: About, progress: Progress) {
    this.#output = output
    this.#options = options
    this.#about = about
    this.#progress = progress
  }

  static async open(output: CommandOutput, options: LiveOptions, about: About): Promise<Live> {
    const progress = await showProgress(output)
    progress.wait('The agent meets a marketplace')
    return new Live(output, options, about, progress)
  }

  /**
   * A check is broken once it has been so for a while: what an agent owes may come a moment after its scenario. What comes after a check that
   * is not played yet waits for it, as both may have one cause.
   */
  hear(event: Recorded, history: History): void {
    this.#history = history
    if (event.kind === 'process' && event.death) this.#say(`the agent ended ${event.text}`)
    if (event.kind !== 'scenario') return
    const census = withLevels(censusOf(history), this.#about.levels)
    const chosen = those(census, this.#about.chosen)
    this.#played.add(event.scenario)
    for (const check of chosen) {
      const awaited = withPrerequisites(chosen, [check]).map(({ scenario }) => scenario)
      const isPlayed = awaited.every(scenario => this.#played.has(scenario))
      if (awaited.includes(event.scenario) && isPlayed) this.#watched.set(check.id, null)
    }
    const watched = chosen.filter(({ id }) => this.#watched.has(id))
    const judged = judge(withPrerequisites(census, watched), history, chosen)
    for (const { id, verdict, text } of judged) {
      const since = this.#watched.get(id)
      if (since === undefined) continue
      if (verdict !== 'fail') this.#watched.delete(id)
      else if (since === null) this.#watched.set(id, event.realAt)
      else if (event.realAt - since >= SURE_MS) this.#tell(id, text)
    }
    this.#progress.wait(`Played: ${event.scenario}`)
  }

  /** Silence would look like the end. */
  wait({ ms, until: at, why, isEnding }: Wait): void {
    const { notes, json } = this.#output
    const until = new Date(at).toLocaleTimeString('en-GB')
    const next = isEnding
      ? 'Then what is open is ended; Ctrl-C again leaves it open'
      : 'Ctrl-C is safe: it ends what can be ended, and says what stays open'
    this.#progress.clear()
    if (!json)
      paragraph(
        notes,
        notes.colour.yellow('· '),
        plain(`${why}. Goes on in ${Math.ceil(ms / 1_000)} s, at ${until}. ${next}.`),
      )
    this.#progress.wait(`Waiting for the marketplace until ${until}`)
  }

  /** Who waits for a report, or looks at the log of a pipeline, hears that it goes on, and until when. */
  readonly takesLong: TellTime = ({ ms, limitMs }) => {
    const { notes } = this.#output
    const { count } = this.#about
    const played = `${this.#played.size}${count === undefined ? '' : ` of ${count}`} scenarios are played`
    const isLong = ms % WHOLE_WORD_MS === 0 || 2 * ms === limitMs
    // A terminal has a line that moves.
    if (!isLong && this.#progress.isShown) return
    const causes = this.#history && isLong ? slownessInWords(this.#history) : []
    const until = isLong ? [`The run ends after ${durationInWords(limitMs)} at the latest (--timeout)`] : []
    const sentences = [`${durationInWords(ms)} into the run, ${played}`, ...causes, ...until]
    this.#progress.clear()
    paragraph(notes, notes.colour.dim('· '), plain(`${sentences.join('. ')}.`))
    this.#progress.wait(`Played: ${this.#played.size} scenarios`)
  }

  #tell(id: string, text: string): void {
    this.#watched.delete(id)
    this.#say(`${id}: the agent ${text}`)
    if (this.#options.bail && this.#about.baseline[id]?.verdict !== 'fail') this.#options.stop()
  }

  #say(text: string): void {
    const { notes, json } = this.#output
    this.#progress.clear()
    this.#hasTold = true
    if (!json) paragraph(notes, `${notes.colour.red('✖')} `, plain(text))
  }

  close(): void {
    this.#progress.clear()
    // The report tells of it again, in full.
    if (this.#hasTold && !this.#output.json) this.#output.notes.line()
  }
}
