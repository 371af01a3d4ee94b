/** docs/llms.txt: what a coding agent has to know, on one page. What other pages and records say is taken from there. */
import { readFileSync } from 'node:fs'
import type { CommandTable } from '../../src/cli/command-line/command.ts'
import { exitCodesInWords } from '../../src/cli/exit-codes.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { blocksOf } from './guide.ts'

/** Those that somebody needs who writes an agent. */
const needed = [
  'dev',
  'simulate buyer',
  'agents list',
  'test-connection',
  'deliveries list',
  'deliveries show',
  'emit',
  'verify',
  'call',
  'clock advance',
  'conformance',
  'mcp',
  'doctor',
]

const pages: readonly (readonly [path: string, about: string])[] = [
  ['guides/first-agent.md', 'a first agent in five minutes'],
  ['guides/agents.md', 'writing an agent: the conversation, verifying, callbacks, whole agents in Node and in Python'],
  ['guides/testing.md', 'trying and testing one: webhooks by hand, what was sent, buyers, time'],
  ['guides/ci.md', 'judging one in a pipeline'],
  ['interface.md', 'the rules that never change, each with a name'],
  ['reference/README.md', 'every endpoint with its shapes'],
  ['reference/events.md', 'every webhook and its fields'],
  ['reference/webhook-events.schema.json', 'the same as JSON Schema'],
  ['reference/errors.md', 'every refusal'],
  ['reference/limits.md', 'every length, rate and duration'],
  ['reference/commands.md', 'every command with its flags'],
  ['reference/tools.md', 'every tool of mcp with its input'],
  ['reference/conformance.md', 'every check of the judge: its rule, its reason, its cure'],
  ['../fixtures/signatures.json', 'signatures with known answers, for a test of your own verification'],
  ['../examples/README.md', 'agents to copy'],
]

export function llmsPage({ chapters }: CommandTable): string {
  const summaries = new Map(chapters.flatMap(([, records]) => records.map(({ name, summary }) => [name, summary])))
  const { description } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { code } = blocksOf('docs/guides/ci.md').find(({ name }) => name === 'agent.mjs')!
  const musts = checks.filter(({ level }) => level === 'must').length
  return `# agent-marketplace

> ${description} An agent is an HTTP address that takes signed webhooks and answers with signed callbacks; buyers hire it, and the price is held until they approve.

An agent in one file. The toolkit verifies, answers 200 at once, knows copies, and signs callbacks:

\`\`\`js agent.mjs
${code}\`\`\`

\`\`\`sh
npm install agent-marketplace
npx agent-marketplace dev --run 'node agent.mjs'
npx agent-marketplace simulate buyer my-agent
npx agent-marketplace deliveries list --failed
npx agent-marketplace call GET /api/dev/exchanges --as admin --jq '.data.items[0].id'
npx agent-marketplace conformance --start 'node agent.mjs'
npx agent-marketplace conformance --explain dup.retry
\`\`\`

\`dev\` goes on, and its money is play money; what follows is for a second terminal in the same folder. Nothing needs an account, a network or a database. With \`--json\` each command prints JSON. Exit codes: ${exitCodesInWords}.

## Signatures

${ruleOf('I-signature')} ${ruleOf('I-timestamp')} The key is the whole secret, \`whsec_\` included: \`MARKETPLACE_WEBHOOK_SECRET\`. A request goes to \`data.callbackUrl\` as it stands.

## The judge

\`conformance\` plays a marketplace to the agent, and makes ${checks.length} checks, of which it must pass ${musts}. It takes less than a minute, and says of each that is broken what was seen, the rule, the cure, and the line that plays only that again. Mend, and run it until the exit code is 0. \`--save-history run.jsonl\` keeps the requests, and \`--explain ID --history run.jsonl\` shows them.

## Commands

${needed.map(name => `- \`marketplace ${name}\`: ${summaryOf(summaries, name)}`).join('\n')}

## Pages

${pages.map(([path, about]) => `- [${path.replace(/^\.\.\//, '')}](${path}): ${about}`).join('\n')}
`
}

function summaryOf(summaries: ReadonlyMap<string, string>, name: string): string {
  const summary = summaries.get(name)
  if (summary === undefined) throw new Error(`There is no command ${name} for llms.txt.`)
  return summary
}

/** The sentences of a rule, without its name. */
function ruleOf(name: string): string {
  const page = readFileSync('docs/interface.md', 'utf8')
  const said = page.split(`**${name}** — `)[1]!.split(/\n(?:\n|- )/, 1)[0]!
  return said.replace(/\s+/g, ' ')
}
