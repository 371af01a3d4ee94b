/** What holds of files of deliverables over the wire, wherever they are kept. Source: I-deliverable-input, I-agent-routes, A-19, A-21, A-22. */
import { writeFile } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { fileKinds } from '../../src/api/file-kinds.ts'
import type { DeliverableRecord, TaskRecord } from '../../src/api/records.ts'
import { attachFiles, dropFiles, keepFiles } from '../../src/market/tasks/files.ts'
import { doomUpload } from '../../src/store/tables/tasks/deliverables.ts'
import { openFilesIn } from '../support/file-faults.ts'
import type { ListedAgent, TestMarketplace, TestUser } from '../support/marketplace.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { samples } from './files.ts'
import { withParsed } from './parsed-bytes.ts'

const tenMegabytes = 10 * 1024 * 1024
type Part = { name: string; bytes: Buffer }

/** `stored`: names of all files that are kept, those that are still arriving included. `mutated`: how many bodies are sent broken. */
export async function uploadCases(
  test: Test,
  marketplace: TestMarketplace,
  stored: () => Promise<string[]>,
  mutated: number,
): Promise<void> {
  const buyer: TestUser = await marketplace.join('buyer', 500_000)
  const builder: TestUser = await marketplace.join('builder')
  const stranger: TestUser = await marketplace.join('stranger')
  const agent: ListedAgent = await marketplace.list(builder)

  const keyOf = ({ key }: TestUser) => key as string

  interface Envelope<Data> {
    success: boolean
    data?: Data
    error?: string
    errors?: Record<string, string[]>
  }

  /** A task that is in progress. */
  async function accepted(): Promise<string> {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
    return id
  }

  /** Files that are kept, or still arriving, and that no deliverable names. */
  async function unheld(): Promise<string[]> {
    const rows = await marketplace.market.db.read(q =>
      q.all<{ files: string }>('SELECT files FROM deliverables WHERE files IS NOT NULL'),
    )
    const held = new Set(rows.flatMap(({ files }) => JSON.parse(files) as { id: string }[]).map(({ id }) => id))
    return (await stored()).filter(name => !held.has(name)).sort()
  }

  async function send(taskId: string, parts: Part[], fields: Record<string, string> = {}, key = keyOf(builder)) {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    for (const { name, bytes } of parts) form.append('files', new Blob([new Uint8Array(bytes)]), name)
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${marketplace.url}/api/agent/tasks/${taskId}/deliver`, {
      method: 'POST',
      headers,
      body: form,
    })
    return { status: response.status, body: (await response.json()) as Envelope<{ task: TaskRecord }> }
  }

  const read = (url: string, key: string) =>
    fetch(`${marketplace.url}${url}`, { headers: { authorization: `Bearer ${key}` } })

  test('every allowed kind is accepted, and comes back as the same bytes, as an attachment', async () => {
    const names = Object.keys(samples)
    const listed = fileKinds.flatMap(({ extensions }) => extensions.slice(0, 1))
    assert.equal([...names].sort(), [...listed].sort(), 'a sample for each kind')
    for (let i = 0; i < names.length; i += 5) {
      const batch = names.slice(i, i + 5)
      const id = await accepted()
      const parts = batch.map(extension => ({ name: `file.${extension}`, bytes: samples[extension]! }))
      const { status, body } = await send(id, parts)
      assert.is(status, 200, JSON.stringify(body))
      const { content, files } = body.data!.task.deliverable as DeliverableRecord
      assert.is(content, null)
      assert.equal(
        files.map(({ name }) => name),
        parts.map(({ name }) => name),
      )
      for (const [at, { url, size, mimeType, name }] of files.entries()) {
        assert.is(size, parts[at]!.bytes.length)
        const answer = await read(url, keyOf(buyer))
        assert.is(answer.status, 200)
        assert.ok(Buffer.from(await answer.arrayBuffer()).equals(parts[at]!.bytes), name)
        assert.is(answer.headers.get('content-type'), mimeType)
        assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="file\./)
        assert.is(answer.headers.get('x-content-type-options'), 'nosniff')
        assert.match(answer.headers.get('content-security-policy') ?? '', /^sandbox/)
      }
    }
  })

  test('a file is for those who may see its task', async () => {
    const id = await accepted()
    const { body } = await send(id, [{ name: 'a.png', bytes: samples.png! }], { content: 'See the file', notes: 'One' })
    const { url } = body.data!.task.deliverable!.files[0]!
    assert.is(body.data!.task.deliverable!.notes, 'One')
    for (const [key, status] of [
      [keyOf(buyer), 200],
      [keyOf(builder), 200],
      [keyOf(marketplace.admin), 200],
      [keyOf(stranger), 403],
      ['svc_nobody', 401],
    ] as const)
      assert.is((await read(url, key)).status, status)
    assert.is((await read(`/api/tasks/${id}/files/file_none`, keyOf(buyer))).status, 404)
    const other = await accepted()
    assert.is((await read(url.replace(id, other), keyOf(buyer))).status, 404, 'only through its own task')
  })

  const refused: [string, Part[], string][] = [
    ['a program', [{ name: 'a.exe', bytes: Buffer.from('MZ') }], 'a.exe: files of this kind are not accepted'],
    [
      'a picture that is none',
      [{ name: 'a.jpg', bytes: samples.pdf! }],
      'a.jpg: its bytes are those of .pdf, not of .jpg',
    ],
    ['an empty file', [{ name: 'a.csv', bytes: Buffer.alloc(0) }], 'a.csv: the file is empty'],
    ['an overlong name', [{ name: `${'a'.repeat(252)}.png`, bytes: samples.png! }], 'a file needs a plain name'],
    [
      'a sixth file',
      Array.from({ length: 6 }, (_, i) => ({ name: `${i}.png`, bytes: samples.png! })),
      'at most 5 files',
    ],
    [
      'a file beyond 10 MB',
      [{ name: 'a.csv', bytes: Buffer.alloc(tenMegabytes + 1, 'a') }],
      `a.csv: larger than ${tenMegabytes} bytes`,
    ],
  ]

  for (const [what, parts, words] of refused) {
    test(`${what} is refused with 400 and its reason, and leaves nothing behind`, async () => {
      const id = await accepted()
      const before = [await marketplace.contents(), await stored()]
      const { status, body } = await send(id, parts, { content: 'Here' })
      assert.is(status, 400)
      assert.is(body.error, 'Validation failed')
      assert.equal(body.errors, { files: [words] })
      assert.equal([await marketplace.contents(), await stored()], before)
    })
  }

  test('large parts that are not taken, a sixth file or one without a name, are read past and the answer comes', async () => {
    const id = await accepted()
    const sixth = { name: 'file.csv', bytes: Buffer.alloc(400_000, 'a,b\n') }
    const { status, body } = await send(id, Array<Part>(5 + 1).fill(sixth))
    assert.is(status, 400)
    assert.equal(body.errors, { files: ['at most 5 files'] })
    for (const size of [50_000, 400_000]) {
      for (const head of ['', 'X: y', 'Content-Disposition: attachment']) {
        const content = `--B\r\n${head}\r\n\r\n${'a'.repeat(size)}\r\n--B--\r\n`
        const headers = { authorization: `Bearer ${keyOf(builder)}`, 'content-type': 'multipart/form-data; boundary=B' }
        const path = `${marketplace.url}/api/agent/tasks/${id}/deliver`
        const signal = AbortSignal.timeout(PATIENCE_MS)
        assert.is((await fetch(path, { method: 'POST', headers, body: content, signal })).status, 400)
      }
    }
  })

  test('text is judged as a whole, in whatever pieces it is read', async () => {
    const before = (piece: number, text: string) => Buffer.concat([Buffer.alloc(piece, ' '), Buffer.from(text)])
    for (const piece of [65_532, 65_533, 65_534, 65_535, 65_536]) {
      const good = [
        { name: 'a.svg', bytes: before(piece, '<svg xmlns="http://www.w3.org/2000/svg"/>') },
        { name: 'a.csv', bytes: before(piece, '\u{1f600},b') },
      ]
      assert.is((await send(await accepted(), good)).status, 200, String(piece))
      const cut = { name: 'a.csv', bytes: before(piece, '\u{1f600}').subarray(0, -1) }
      assert.match((await send(await accepted(), [cut])).body.errors!.files!.join(), /not valid UTF-8/)
    }
  })

  test('exactly 10 MB is accepted', async () => {
    const bytes = Buffer.alloc(tenMegabytes, 'a')
    assert.is((await send(await accepted(), [{ name: 'a.csv', bytes }])).status, 200)
  })

  test('a name is kept without its path', async () => {
    const { body } = await send(await accepted(), [{ name: '../../etc/päss wd.png', bytes: samples.png! }])
    assert.is(body.data!.task.deliverable!.files[0]!.name, 'päss wd.png')
    assert.ok((await stored()).every(name => name.startsWith('file_')))
  })

  test('without a file the content is required, and its limits hold as they do in JSON', async () => {
    const id = await accepted()
    assert.equal((await send(id, [], { notes: 'only' })).body.errors?.content, ['is required without a file'])
    const long = await send(id, [{ name: 'a.png', bytes: samples.png! }], { content: 'é'.repeat(50_001) })
    assert.is(long.status, 400)
    assert.ok(long.body.errors?.content)
    assert.is((await send(id, [], { content: 'é'.repeat(50_000) })).status, 200)
  })

  test('a delivery that is refused for its task keeps no file', async () => {
    const draft = await marketplace.draft(buyer, agent)
    const before = await stored()
    assert.is((await send(draft.id, [{ name: 'a.png', bytes: samples.png! }])).status, 400)
    assert.is((await send(draft.id, [{ name: 'a.png', bytes: samples.png! }], {}, keyOf(stranger))).status, 403)
    assert.is((await send('task_none', [{ name: 'a.png', bytes: samples.png! }])).status, 404)
    assert.is((await send(draft.id, [{ name: 'a.png', bytes: samples.png! }], {}, 'svc_bad')).status, 401)
    assert.equal(await stored(), before)
  })

  test('the buyer’s and builder’s own deliver route takes JSON only', async () => {
    const id = await accepted()
    const form = new FormData()
    form.append('content', 'Here')
    const headers = { authorization: `Bearer ${builder.key}` }
    const answer = await fetch(`${marketplace.url}/api/tasks/${id}/deliver`, { method: 'POST', headers, body: form })
    assert.is(answer.status, 400)
  })

  /** Sends raw bytes, cuts the connection after them if asked to, and answers what came back. */
  const raw = (bytes: Buffer, cut = false) =>
    new Promise<string>(resolve => {
      let text = ''
      const socket = net.connect(Number(new URL(marketplace.url).port), '127.0.0.1', () => {
        socket.write(bytes)
        if (cut) setTimeout(() => socket.destroy(), 20)
      })
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('error', () => {}).on('close', () => resolve(text))
      socket.setTimeout(PATIENCE_MS, () => socket.destroy())
    })

  function request(taskId: string, body: Buffer, length = body.length): Buffer {
    const head = [
      `POST /api/agent/tasks/${taskId}/deliver HTTP/1.1`,
      `Host: ${new URL(marketplace.url).host}`,
      `Authorization: Bearer ${builder.key}`,
      'Content-Type: multipart/form-data; boundary=b',
      `Content-Length: ${length}`,
      'Connection: close',
    ]
    return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
  }

  const form = Buffer.concat([
    Buffer.from(
      '--b\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
    ),
    samples.png!,
    Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="content"\r\n\r\nHere\r\n--b--\r\n'),
  ])

  test('an upload that breaks off leaves nothing behind, and the server goes on', async () => {
    const id = await accepted()
    const before = await stored()
    await Promise.all(
      [20, 90, 130, 170, form.length - 6].map(at => raw(request(id, form.subarray(0, at), form.length), true)),
    )
    assert.match(await raw(request(id, form)), /^HTTP\/1\.1 200/)
    // The server may still be reading what was cut off here.
    const added = async () => (await stored()).filter(name => !before.includes(name))
    await until('one file alone is left, which came whole', async () => (await added()).length === 1)
    assert.equal(
      (await stored()).filter(name => before.includes(name)),
      before,
    )
  })

  test(`${mutated} mutated multipart bodies: the envelope each time, no 5xx, no stray file`, async () => {
    let seed = 7
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    // Its notes are too long, so that what is broken in harmless places is parsed to its end and refused there.
    const refusable = Buffer.concat([
      form.subarray(0, form.lastIndexOf('--b--')),
      Buffer.from(`--b\r\nContent-Disposition: form-data; name="notes"\r\n\r\n${'n'.repeat(2_001)}\r\n--b--\r\n`),
    ])
    let task = await accepted()
    let parsed = 0
    const before = await unheld()
    const one = async () => {
      const body = Buffer.from(refusable)
      for (let i = 0; i <= next(4); i++) body[next(body.length)] = next(256)
      const cut = next(3) === 0 ? body.subarray(0, next(body.length)) : body
      const text = await raw(request(task, cut))
      assert.match(text, /^HTTP\/1\.1 (200|400) /, `${text.slice(0, 80)} for ${cut.toString('latin1')}`)
      assert.match(text, /\{"success":(true,"data"|false,"error"):/)
      if (text.includes('"notes"')) parsed++
      if (text.startsWith('HTTP/1.1 200')) task = await accepted()
    }
    for (let i = 0; i < mutated; i += 20) await Promise.all(Array.from({ length: 20 }, one))
    assert.equal(await unheld(), before)
    assert.ok(parsed > mutated / 10, `${parsed} were parsed to their end`)
  })

  test('an upload that is repeated under its Idempotency-Key gets the first answer and leaves no second file', async () => {
    const id = await accepted()
    const before = (await stored()).length
    const deliver = async (text: string) => {
      const form = new FormData()
      form.append('content', text)
      form.append('files', new Blob(['a,b\n1,2\n']), 'table.csv')
      const headers = { authorization: `Bearer ${keyOf(builder)}`, 'idempotency-key': `deliver ${id}` }
      const response = await fetch(`${marketplace.url}/api/agent/tasks/${id}/deliver`, {
        method: 'POST',
        headers,
        body: form,
      })
      return { status: response.status, text: await response.text() }
    }
    const first = await deliver('Done.')
    assert.is(first.status, 200)
    assert.equal(await deliver('Done.'), first)
    assert.is((await deliver('Another.')).status, 409)
    assert.is((await stored()).length, before + 1)
    assert.ok(first.text.includes('table.csv'))
  })

  const openDescriptors = () => openFilesIn(join(marketplace.market.files.incoming, '..'))

  test('a body that comes whole and is left at once leaves no file and no descriptor', async () => {
    const id = await accepted()
    const [before, open] = [await unheld(), openDescriptors()]
    const fileOf = (size: number) =>
      Buffer.concat([
        Buffer.from('--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'),
        Buffer.alloc(size, 'a,b\n'),
        Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="notes"\r\n\r\n'),
        Buffer.alloc(2_001, 'n'),
        Buffer.from('\r\n--b--\r\n'),
      ])
    const leave = (_: unknown, i: number) =>
      new Promise<void>(resolve => {
        const socket = net.connect(Number(new URL(marketplace.url).port), '127.0.0.1', () =>
          socket.write(request(id, fileOf(i % 3 === 0 ? 3_000_000 : 90_000)), () =>
            i % 2 === 0 ? socket.destroy() : socket.resetAndDestroy(),
          ),
        )
        socket.on('error', () => {}).on('close', () => resolve())
      })
    await Promise.all(Array.from({ length: 40 }, leave))
    const same = async () => String(await unheld()) === String(before) && openDescriptors() <= open
    // The server may not even have begun with them.
    const calm: boolean[] = []
    await until(
      'nothing is left',
      async () => calm.push(await same()) && calm.slice(-50).filter(Boolean).length === 50,
      20,
    )
    assert.equal(await unheld(), before)
    assert.ok(openDescriptors() <= open, `${openDescriptors()} descriptors, ${open} before`)
  })

  test('25 MB of empty parts are refused after the first of them, and no byte more is parsed', async () => {
    const id = await accepted()
    const parts = Buffer.from(`${'--b\r\n\r\n\r\n'.repeat(2_000_000)}--b--\r\n`)
    const { text, parsed } = await withParsed(() => raw(request(id, parts)))
    assert.match(text, /more than 30 parts/)
    assert.ok(parsed > 0 && parsed < 500_000, `${parsed} bytes were parsed`)
    for (const count of [30, 31]) {
      const few = Buffer.from(`${'--b\r\n\r\n\r\n'.repeat(count)}--b--\r\n`)
      const answer = await raw(request(id, few))
      assert.is(answer.includes('more than 30 parts'), count > 30, `${count}: ${answer}`)
    }
  })

  test('no byte of a file is taken for a task that takes no delivery from this caller', async () => {
    const draft = await marketplace.draft(buyer, agent)
    const running = await accepted()
    const cases: [string, string | undefined, number][] = [
      [draft.id, builder.key, 400],
      ['task_none', builder.key, 404],
      [running, stranger.key, 403],
      [running, 'svc_nobody', 401],
    ]
    // At once: a connection whose body never came stays for two seconds. The answer owes nothing to it.
    const answers = cases.map(async ([task, key, status]) => {
      const head = request(task, Buffer.alloc(0), 1_000_000).toString().replace(builder.key!, key!)
      assert.match(await raw(Buffer.from(head)), new RegExp(`^HTTP/1\\.1 ${status} `), `${task} ${status}`)
    })
    await Promise.all(answers)
  })

  const formOf = (disposition: string, bytes: Buffer, content?: string) =>
    Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
      bytes,
      Buffer.from(
        content === undefined
          ? '\r\n--b--\r\n'
          : `\r\n--b\r\nContent-Disposition: form-data; name="content"\r\n\r\n${content}\r\n--b--\r\n`,
      ),
    ])

  test('a file in a part of another name is refused with the name that it needs', async () => {
    const id = await accepted()
    for (const part of ['name="file"; filename="a.csv"', 'name="files[]"; filename="a.csv"', 'filename="a.csv"']) {
      const text = await raw(request(id, formOf(part, Buffer.from('a,b\n'), 'Here')))
      assert.match(text, /^HTTP\/1\.1 400 /, part)
      assert.match(text, /send each in a part named files/, part)
    }
    const unnamed = await raw(request(id, formOf('name="files"', Buffer.from('a,b\n'), 'Here')))
    assert.match(unnamed, /a part named files needs a file name/)
  })

  test('a body that is no form says what is wrong with it', async () => {
    const path = `${marketplace.url}/api/agent/tasks/${await accepted()}/deliver`
    const said = async (type: string, body: string) => {
      const headers = { authorization: `Bearer ${keyOf(builder)}`, 'content-type': type }
      const answer = await fetch(path, { method: 'POST', headers, body })
      assert.is(answer.status, 400)
      return ((await answer.json()) as Envelope<never>).error!
    }
    // Behind the colon are the words of the parser.
    assert.match(await said('multipart/form-data', '--b--'), /^The multipart body can't be read: \S/)
    const unended = '--b\r\nContent-Disposition: form-data; name="content"\r\n\r\na'
    for (const body of ['hello', unended])
      assert.match(await said('multipart/form-data; boundary=b', body), /^The multipart body is broken: \S/, body)
  })

  test('an empty content beside a file is as none', async () => {
    const text = await raw(
      request(await accepted(), formOf('name="files"; filename="a.csv"', Buffer.from('a,b\n'), '')),
    )
    assert.match(text, /^HTTP\/1\.1 200 /)
    assert.match(text, /"deliverable":\{[^}]*"content":null/)
    const alone = await raw(request(await accepted(), formOf('name="content"', Buffer.alloc(0))))
    assert.match(alone, /^HTTP\/1\.1 400 /)
  })

  test('a name is refused where it could not be shown, and is unescaped as browsers escape it', async () => {
    const half = "filename*=utf-16le''%00%d8a%00.%00c%00s%00v%00"
    for (const name of [half, 'filename="a%0Ab.csv"', 'filename="a%0d.csv"', 'filename="a\u0085b.csv"']) {
      const text = await raw(request(await accepted(), formOf(`name="files"; ${name}`, Buffer.from('a,b\n'))))
      assert.match(text, /^HTTP\/1\.1 400 [\s\S]*a file needs a plain name/, name)
    }
    const kept: [string, string][] = [
      ['filename="say %22hi%22.csv"', 'say "hi".csv'],
      ['filename="100%25 %C3%A9.csv"', '100%25 %C3%A9.csv'],
      ["filename*=utf-8''caf%C3%A9.csv", 'café.csv'],
    ]
    for (const [given, name] of kept) {
      const id = await accepted()
      const text = await raw(request(id, formOf(`name="files"; ${given}`, Buffer.from('a,b\n'))))
      assert.match(text, /^HTTP\/1\.1 200 /, text)
      const { data } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { data: { task: TaskRecord } }
      const { name: found, url } = data.task.deliverable!.files[0]!
      assert.is(found, name)
      assert.is((await read(url, keyOf(buyer))).status, 200)
    }
  })

  test('a file whose name was kept with half a surrogate pair can be had, and its task be listed', async () => {
    const id = await accepted()
    const { body } = await send(id, [{ name: 'aXb.csv', bytes: Buffer.from('a,b\n') }])
    const { url } = body.data!.task.deliverable!.files[0]!
    await marketplace.market.db.write(tx =>
      tx.run(`UPDATE deliverables SET files = REPLACE(files, 'aXb', 'a\\ud800b') WHERE task_id = $1`, [id]),
    )
    const open = openDescriptors()
    for (let i = 0; i < 5; i++) {
      const answer = await read(url, keyOf(buyer))
      assert.is(answer.status, 200)
      assert.is(await answer.text(), 'a,b\n')
    }
    assert.ok(openDescriptors() <= open + 2)
    const { files } = (await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)).deliverable!
    assert.is(files[0]!.name, 'a\ufffdb.csv')
  })

  test('a file that nothing holds is removed after an hour; one that is held, or younger, stays', async () => {
    const before = await stored()
    const { body } = await send(await accepted(), [{ name: 'held.png', bytes: samples.png! }])
    assert.is(body.success, true)
    const held = await stored()
    assert.is(held.length, before.length + 1)
    const path = join(marketplace.market.files.incoming, 'file_orphan')
    await writeFile(path, 'left behind')
    await keepFiles(marketplace.market, [{ id: 'file_orphan', path }])
    const all = [...held, 'file_orphan'].sort()
    assert.equal((await stored()).sort(), all)
    marketplace.world.tick(59 * 60_000)
    await marketplace.runDue()
    assert.equal((await stored()).sort(), all)
    marketplace.world.tick(2 * 60_000)
    await marketplace.runDue()
    assert.equal((await stored()).sort(), held.sort())
    const { count } = (await marketplace.market.db.read(q =>
      q.get<{ count: number }>('SELECT COUNT(*) AS count FROM uploads'),
    ))!
    assert.is(count, 0)
  })

  test('a file that is being removed as an orphan can be held by no deliverable any more', async () => {
    const path = join(marketplace.market.files.incoming, 'file_doomed')
    await writeFile(path, 'too late')
    await keepFiles(marketplace.market, [{ id: 'file_doomed', path }])
    const { db } = marketplace.market
    assert.ok(await db.write(tx => doomUpload(tx, 'file_doomed')))
    const file = { id: 'file_doomed', name: 'a.csv', mimeType: 'text/csv', size: 8 }
    const refused = await db.write(tx => attachFiles(tx, [file])).catch(error => error.code)
    assert.is(refused, 'lost_race')
    await dropFiles(marketplace.market, [file])
    assert.not.ok((await stored()).includes('file_doomed'))
  })
}
