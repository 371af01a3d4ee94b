/** Writes the page of all checks from their records. */

import { checks } from '../../src/conform/checks/index.ts'
import type { Check } from '../../src/conform/judging/check.ts'
import { judgesOfLog } from '../../src/conform/listed-agent/log-judges.ts'
import { scenes } from '../../src/conform/listed-agent/scenes.ts'
import { judgesOfTasks } from '../../src/conform/listed-agent/task-judges.ts'
import { judgesOfTests } from '../../src/conform/listed-agent/test-judges.ts'
import { areas } from '../../src/conform/reports/areas.ts'

const INTRO = `# The checks of \`marketplace conformance\`

What each check asks of an agent, why, and what to change if it is broken. \`marketplace conformance --explain ID\` prints the same.
A *must* decides about a run; a *should* warns, and decides with \`--strict\`; a *may* is only told. An agent may reject anything, be slow, be
narrow, work through a queue, verify either set of signature headers, and answer by key instead of signature: none of that breaks a must.
What was not decided when the time of a run was over (\`--timeout\`) is *inconclusive*, and such a run is never green.
A report begins with its *causes*, in the order in which to mend them. What was not judged because of one is *behind* it: mend the cause, and it is judged.
Ids, levels and verdicts (\`pass\`, \`fail\`, \`warn\`, \`behind\`, \`untested\`, \`inconclusive\`) keep their names: the [schema of a report](conformance-run.schema.json) has them.
`

export function conformancePage(): string {
  const names = [...new Set(checks.map(areaOf))]
  const parts = names.map(area => {
    const those = checks.filter(check => areaOf(check) === area)
    return ['', `## ${area}: ${areas[area]}`, ...those.map(section)].join('\n\n')
  })
  const counts = (['must', 'should', 'may'] as const).map(
    level => `${checks.filter(check => check.level === level).length} ${level}`,
  )
  const contents = names.map(area => `[${area}](#${anchorOf(area)})`).join(' · ')
  const outside = ['', '## From outside', fromOutside()].join('\n\n')
  return `${[INTRO, `${checks.length} checks: ${counts.join(', ')}. Areas: ${contents}.`, outside, ...parts].join('\n')}\n`
}

/** What `--agent` can judge, and by what. */
function fromOutside(): string {
  const byTest = Object.keys(judgesOfTests)
  const named = (ids: readonly string[]) => ids.map(id => `[${id}](#${id})`).join(', ')
  const free = byTest.filter(id => judgesOfTests[id]!.scenario === scenes.test)
  const [faults, seen] = [true, false].map(only =>
    Object.keys(judgesOfLog).filter(id => (judgesOfLog[id]!.faultsOnly ?? false) === only),
  ) as [string[], string[]]
  return `\`marketplace conformance --agent SLUG\` looks at an agent that a marketplace lists, where most can't be seen. What it judges:

- its own builder, for nothing, by two connection tests: ${named(free)};
- whoever hires it with \`--spend\`: ${named(Object.keys(judgesOfTasks))};
- its own builder with \`--spend\`, besides: ${named([...byTest.filter(id => !free.includes(id)), ...seen])}; and of ${named(faults)} that they are broken, as what shows that
  they hold is not sent, or only the marketplace sees it.

All others are untested then, with that reason, and count as nothing.`
}

const areaOf = ({ id }: Check) => id.split('.', 1)[0]!
const anchorOf = (area: string) => `${area}-${areas[area]!.toLowerCase().replaceAll(' ', '-')}`

function section({ id, title, level, law, why, fix, after = [] }: Check): string {
  const rule = law.source.startsWith('I-') ? `[${law.source}](../interface.md#${law.source.toLowerCase()})` : law.source
  return [
    `<a id="${id}"></a>**${id}** (${level}): ${title}.`,
    `> ${law.quote} (${rule})`,
    `${why} *To mend it:* ${fix}${after.length > 0 ? ` *After:* ${after.map(one => `[${one}](#${one})`).join(', ')}.` : ''}`,
  ].join('\n\n')
}
