/** What is told while a run goes on: each broken check as soon as its scenario has ended, and what is played. */
import type { Baseline } from '../../conform/baseline.ts'
import type { Check } from '../../conform/check.ts'
import { checks } from '../../conform/checks/index.ts'
import type { History, Recorded } from '../../conform/history.ts'
import { judge } from '../../conform/judge.ts'
import { withPrerequisites } from '../../conform/selection.ts'
import type { CommandOutput } from '../output/output.ts'
import { type Progress, showProgress } from '../output/progress.ts'
import { plain } from '../output/ui.ts'

interface LiveOptions {
  /** The first broken must ends the run. */
  readonly bail: boolean
  stop(): void
}

interface About {
  readonly chosen: readonly Check[]
  readonly baseline: Baseline
}

export class Live {
  readonly #output: CommandOutput
  readonly #options: LiveOptions
  readonly #about: About
  readonly #progress: Progress
  readonly #told = new Set<string>()

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

  hear(event: Recorded, history: History): void {
    if (event.kind !== 'scenario') return
    const { notes, json } = this.#output
    const ended = this.#about.chosen.filter(({ scenario }) => scenario === event.scenario)
    const failed = judge(withPrerequisites(checks, ended), history).filter(
      ({ id, verdict }) => verdict === 'fail' && ended.some(check => check.id === id) && !this.#told.has(id),
    )
    for (const { id, text } of failed) {
      this.#told.add(id)
      this.#progress.clear()
      if (!json) notes.line(`${notes.colour.red('✖')} ${id}: the agent ${plain(text)}`)
    }
    this.#progress.wait(`Played: ${event.scenario}`)
    if (this.#options.bail && failed.some(({ id }) => this.#about.baseline[id]?.verdict !== 'fail'))
      this.#options.stop()
  }

  close(): void {
    this.#progress.clear()
  }
}
