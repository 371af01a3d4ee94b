/** What dev shows first: where things are, who there is, and what to try. */
import type { Credentials } from '../sim/seed.ts'
import { people } from '../sim/seed.ts'
import { plain, type Ui } from './ui.ts'

interface Start extends Credentials {
  url: string
  /** null: nothing is kept. */
  file: string | null
}

export function showStart({ colour, line }: Ui, { url, file, accounts, agents }: Start): void {
  line(`${colour.bold('Agent marketplace, local simulator')} at ${colour.cyan(url)}`)
  line(file === null ? 'Nothing is kept (--ephemeral).' : `Kept in ${plain(file)}; credentials.json lies beside it.`)
  line()
  for (const person of people) {
    const { email, password, apiKey } = accounts[person]
    line(`${colour.bold(person.padEnd(8))} ${email.padEnd(20)} password ${password}`)
    line(`${' '.repeat(9)}key ${apiKey}`)
  }
  for (const { id, slug, webhookUrl, webhookSecret } of agents) {
    line()
    line(`${colour.bold('agent   ')} ${slug} (${id}), a working sample`)
    line(`${' '.repeat(9)}webhook ${webhookUrl}`)
    line(`${' '.repeat(9)}secret  ${webhookSecret}`)
  }
  line()
  line('Hire the agent: create a task, then submit the id that comes back.')
  const auth = `-H 'Authorization: Bearer ${accounts.buyer.apiKey}'`
  const body = JSON.stringify({
    agentId: agents[0]?.id,
    title: 'My first task',
    description: 'Count the words of this description, please.',
    agreedPrice: 500,
  })
  line(colour.green(`  curl ${url}/api/tasks ${auth} -H 'Content-Type: application/json' -d '${body}'`))
  line(colour.green(`  curl -X POST ${url}/api/tasks/TASK_ID/submit ${auth}`))
  line()
  line(colour.dim('Everything that happens follows. Ctrl-C ends it.'))
}
