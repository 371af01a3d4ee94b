// engines: embedded; process: shared
/** Which agents dev is given: by --forward-to, by --agent, and by --run alone; and which buyers, by --persona. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AgentFlags, givenAgents } from '../../src/cli/dev/given-agents.ts'
import { personasCalled } from '../../src/cli/dev/personas.ts'

const named = (flags: AgentFlags) => givenAgents(flags).map(({ name, forwardTo }) => `${name} ${forwardTo}`)
const HOOK = 'http://localhost:3000/webhook'

test('agents have the names that they are given, or are numbered; an address may leave out the scheme', () => {
  assert.equal(named({}), [])
  assert.equal(named({ forwardTo: [HOOK] }), [`my-agent ${HOOK}`])
  assert.equal(named({ forwardTo: ['localhost:3000/webhook', '[::1]:3001'] }), [
    `my-agent ${HOOK}`,
    'my-agent-2 http://[::1]:3001/',
  ])
  assert.equal(named({ forwardTo: [HOOK], agent: ['a1=http://x.localhost:1/?q=a=b'] }), [
    `my-agent ${HOOK}`,
    'a1 http://x.localhost:1/?q=a=b',
  ])
  assert.equal(named({ run: 'npm start' }), ['my-agent null'])
  assert.equal(named({ run: 'npm start', agent: ['writer'] }), ['writer null'])
})

test('what makes no sense is refused with an example', () => {
  const cases: [AgentFlags, RegExp][] = [
    [{ forwardTo: ['https://localhost:1'] }, /takes an address without TLS, as dev puts HTTPS in front of it/],
    ...['http://example.com', 'http://10.0.0.1:3000', 'ftp://localhost', 'nonsense', '', 'http://u:p@localhost'].map(
      (text): [AgentFlags, RegExp] => [
        { forwardTo: [text] },
        /takes the address of an agent on this machine, such as http/,
      ],
    ),
    ...['writer', '=http://localhost'].map((text): [AgentFlags, RegExp] => [
      { agent: [text] },
      /--agent takes name=URL, such as \S+, not /,
    ]),
    ...['Writer', 'w', 'two words', 'a_b', 'a'.repeat(61)].map((name): [AgentFlags, RegExp] => [
      { agent: [`${name}=http://localhost`] },
      new RegExp(`--agent takes a name of 2 to 60 small letters and digits, .*, not ${name}\\.`),
    ]),
    [{ agent: ['sample-agent=localhost:1'] }, /sample-agent is an agent that dev itself has/],
    [{ agent: ['my-agent=localhost:1'], forwardTo: ['localhost:2'] }, /needs a name of its own/],
    [{ run: 'npm start', forwardTo: ['localhost:1', 'localhost:2'] }, /--run starts one agent/],
  ]
  for (const [flags, words] of cases) assert.throws(() => givenAgents(flags), words)
})

test('personas are called by name, each once; an unknown one is refused with those that there are', () => {
  assert.equal(personasCalled(), [])
  assert.equal(
    personasCalled(['picky', 'easy', 'picky']).map(({ name }) => name),
    ['picky', 'easy'],
  )
  assert.throws(() => personasCalled(['happy']), /takes one of these, not happy:\n {2}easy +approves what is delivered/)
})

test.run()
