// engines: embedded; process: shared
/** What `call` sends and prints: fields, headers, files, pages, programs of jq. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jqProgram } from '../../src/cli/commands/call.ts'
import { headersOf, objectOf, typedFields } from '../../src/cli/endpoint/call-fields.ts'
import { answerHere, enterDev, runHere } from './in-process.ts'

const dev = enterDev(test)

test('fields have the types of JSON, nest, make lists, and are read from files', async () => {
  writeFileSync('brief.txt', 'Count the words.')
  const given = [
    'a=1',
    'b=true',
    'c=null',
    'd=01',
    'e=x=y',
    'f[g]=-2',
    'f[h]=z',
    'tags[]=one',
    'tags[]=2',
    't=@brief.txt',
    'u=',
  ]
  assert.equal(JSON.parse(JSON.stringify(objectOf(await typedFields(given)))), {
    ...{ a: 1, b: true, c: null, d: '01', e: 'x=y' },
    ...{ f: { g: -2, h: 'z' }, tags: ['one', 2], t: 'Count the words.', u: '' },
  })
  const odd = objectOf(await typedFields(['__proto__[admin]=true']))
  assert.is(({} as { admin?: boolean }).admin, undefined)
  assert.is(JSON.stringify(odd), '{"__proto__":{"admin":true}}')
  for (const bad of [['x'], ['=1'], ['a]=1'], ['a=1', 'a[b]=2'], ['a[]=1', 'a[b]=2']]) {
    const refused = await answerHere('call', 'POST', '/api/tasks', ...bad.flatMap(field => ['--field', field]))
    assert.is(refused.code, 2, bad.join(' '))
    assert.match(refused.error, '--field')
  }
  assert.equal(headersOf(['X-A: b: c', 'If-None-Match:"1"']), { 'x-a': 'b: c', 'if-none-match': '"1"' })
  for (const bad of ['nothing', 'Authorization: Bearer svc_x', 'cookie: session=1'])
    assert.throws(() => headersOf([bad]))
})

test('a request has the fields as body or query, the headers, and shows status and headers on demand', async () => {
  const made = await answerHere('call', 'POST', '/api/my/api-keys', '-F', 'name=laptop')
  assert.is(made.data.keyInfo.name, 'laptop')
  const draft = {
    agentId: dev.ready.agents[0].id,
    title: 'Only once',
    description: 'Count the words, please.',
    agreedPrice: 500,
  }
  const fields = Object.entries(draft).flatMap(([name, value]) => ['-F', `${name}=${value}`])
  const repeat = ['call', 'POST', '/api/tasks', ...fields, '-H', 'Idempotency-Key: one', '--as', 'buyer']
  for (const _ of [1, 2]) assert.is((await runHere(...repeat)).code, 0)
  const titles = await runHere(
    'call',
    'GET',
    '/api/tasks',
    '--as',
    'buyer',
    '--paginate',
    '--jq',
    '.data.tasks[].title',
  )
  assert.is(
    titles.out.split('\n').filter(title => title === 'Only once').length,
    1,
    'the same Idempotency-Key made one task',
  )
  const found = await answerHere('call', 'GET', '/api/agents', '-F', 'q=sample', '-F', 'limit=1')
  assert.is(found.data.pagination.limit, 1)
  const { out } = await runHere('call', 'GET', '/api/agents?limit=1', '-i')
  assert.match(out, /^HTTP\/1\.1 200 OK\n(?:[\w-]+: .*\n)+\n\{\n/)
  const session = await runHere(
    'call',
    'POST',
    '/api/auth/login',
    '-i',
    '-F',
    'email=buyer@example.com',
    '-F',
    'password=x',
  )
  assert.not.match(session.out, /set-cookie: (?!\(not shown\))/)
})

test('a file is uploaded to an endpoint that takes files', async () => {
  writeFileSync('letter.pdf', '%PDF-1.4 one')
  const words = ['--agent', 'silent-analyst', '--title', 'A letter', '--description', 'Count the words, please.']
  const task = (await answerHere('tasks', 'create', ...words, '--price', '5.00')).data.id
  await answerHere('tasks', 'submit', task)
  await answerHere('tasks', 'accept', task)
  const sent = await answerHere(
    'call',
    'POST',
    `/api/agent/tasks/${task}/deliver`,
    '-F',
    'files=@letter.pdf',
    '-F',
    'notes=1',
  )
  assert.is(sent.code, 0, JSON.stringify(sent))
  assert.is(sent.data.task.deliverable.files[0].name, 'letter.pdf')
})

test('--paginate prints all pages as one list, and is refused where there are none', async () => {
  const single = await answerHere('call', 'GET', '/api/my/agents?limit=1')
  assert.is(single.data.items.length, 1)
  const all = await answerHere('call', 'GET', '/api/my/agents?limit=1', '--paginate')
  assert.is(all.data.items.length, single.data.pagination.total)
  assert.is(new Set(all.data.items.map(({ id }: { id: string }) => id)).size, all.data.items.length)
  assert.is(all.data.pagination.hasMore, false)
  for (const words of [
    ['POST', '/api/tasks', '--paginate'],
    ['GET', '/api/wallet', '--paginate'],
    ['GET', '/api/wallet', '--jq', '.data |'],
    ['GET', '/api/wallet', '-i', '--json'],
    ['POST', '/api/tasks', '-d', '{}', '-F', 'a=1'],
  ])
    assert.is((await runHere('call', ...words)).code, 2, words.join(' '))
  const misfit = await runHere('call', 'GET', '/api/agents', '--jq', '.agents[].slug')
  assert.is(misfit.code, 1)
  const [, program] = /--jq '([^']+)' says what that has/.exec(misfit.err)!
  assert.match((await runHere('call', 'GET', '/api/agents', '--jq', program!)).out, '"items"')
})

const REPLY = {
  success: true,
  data: {
    tasks: [
      { id: 't1', status: 'draft', agreedPrice: 500, tags: ['a'] },
      { id: 't2', status: 'pending', agreedPrice: 700 },
    ],
  },
}

const programs = [
  ...[
    '.',
    '.data.tasks[].id',
    '.data.tasks | length',
    '.data.tasks[] | select(.status == "draft") | .id',
    '.data.tasks[0].tags',
  ],
  ...[
    '[.data.tasks[].agreedPrice] | add',
    '.data.tasks | map({id, price: (.agreedPrice / 100)})',
    '.data | keys',
    '.nothing',
  ],
  ...['.data.tasks[] | "\\(.id): \\(.status)"', '.data.tasks | sort_by(-.agreedPrice) | .[0].id', '.data.tasks[-1].id'],
  ...[
    '.data.tasks | group_by(.status) | map(length)',
    '.data.tasks[] | .tags // "none"',
    '.data.tasks | any(.agreedPrice > 600)',
  ],
  ...[
    '.data.tasks[:1] | .[].id',
    '[.data.tasks[] | .id | ascii_upcase] | join(",")',
    '.data.tasks[0] | to_entries | map(.key)',
  ],
]

test('programs print what jq itself prints', async () => {
  const jq = (program: string) => {
    try {
      return execFileSync('jq', ['-rc', program], { input: JSON.stringify(REPLY), encoding: 'utf8' })
    } catch {
      return undefined
    }
  }
  if (jq('.') === undefined) return
  for (const program of programs) {
    assert.is(await (await jqProgram(program))(JSON.stringify(REPLY)), jq(program), program)
  }
})

test.run()
