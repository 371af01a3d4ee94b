/** The start screen of dev: the address, the accounts, and what to try first. */

import { PROJECT_FILE } from '../../settings/project-file.ts'
import { type Credentials, people } from '../../sim/seed.ts'
import { CREDENTIALS_FILE } from '../connection/dev-folder.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { commandLine, plain, type Ui } from '../output/ui.ts'

interface Start extends Credentials {
  url: string
  /** Names of the agents that never answer. */
  silent: readonly string[]
  /** The database in words; null if nothing is stored. */
  db: string | null
  /** The file with the credentials; null if there is none. */
  credentialsFile: string | null
  /** Names of the settings that come from the project file. */
  fromProject: readonly string[]
}

export function showStart(ui: Ui, start: Start): void {
  const { colour, line } = ui
  const { url, db, accounts, agents, silent, fromProject, credentialsFile } = start
  line(`${colour.bold('Agent marketplace, local simulator')} at ${colour.cyan(url)}`)
  line(db === null ? 'Nothing is kept (--ephemeral).' : `Kept in ${plain(db)}; keys in ${credentialsFile}.`)
  if (fromProject.length > 0) line(`${PROJECT_FILE} of this folder sets ${fromProject.join(', ')}.`)
  line()
  for (const person of people) {
    const { email, password, apiKey } = accounts[person]
    line(`${colour.bold(person.padEnd(8))} ${email.padEnd(20)} password ${password}`)
    line(`${' '.repeat(9)}key ${apiKey}`)
  }
  for (const { id, slug, webhookUrl, webhookSecret, forwardTo } of agents) {
    line()
    line(`${colour.bold('agent   ')} ${slug} (${id})${forwardTo ? '' : ', a working sample'}`)
    if (forwardTo) line(`${' '.repeat(9)}at      ${plain(forwardTo)}`)
    line(`${' '.repeat(9)}webhook ${webhookUrl}`)
    line(`${' '.repeat(9)}secret  ${webhookSecret}`)
  }
  line()
  line(`${colour.bold('agents  ')} ${silent.join(', ')}: samples that are down on purpose`)
  line()
  showFirstSteps(ui, start)
  line()
  line(colour.dim('Everything that happens follows. Ctrl-C ends it.'))
}

function showFirstSteps(ui: Ui, { url, accounts, agents, credentialsFile }: Start): void {
  const agent = agents.find(({ forwardTo }) => forwardTo) ?? agents[0]
  const key = accounts.buyer.apiKey
  const found = credentialsFile === CREDENTIALS_FILE
  const { colour, line } = ui
  const command = (text: string) => commandLine(ui, ' ', text, colour.green)
  line(`Hire the agent, from another terminal${found ? ' in this folder' : ''}:`)
  command(nextSteps.simulateBuyer(`${agent?.slug}`, found ? '' : ` --url ${url} --key ${key}`))
  line()
  if (!agent?.forwardTo) {
    line('Your own agent in its place, on any port, in any language:')
    command(nextSteps.forward())
    line()
  }
  line('Or by hand: create a task, then submit the id that comes back.')
  const body = `{"agentId":"${agent?.id}","agreedPrice":500,
    "title":"My first task","description":"Count these words, please."}`
  command(`export KEY=${key}`)
  command(`curl ${url}/api/tasks -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${body}'`)
  command(`curl -X POST ${url}/api/tasks/TASK_ID/submit -H "Authorization: Bearer $KEY"`)
  line(`Every request of the API: ${colour.cyan(`${url}/docs`)}`)
}
