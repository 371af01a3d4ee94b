// engines: embedded; process: shared
/** The doctor of a machine: each thing that it looks at, well and ill. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { causes } from '../../src/api/diagnosis/table.ts'
import { addressResult, secretFinding } from '../../src/cli/doctor/agent.ts'
import { certificateFinding, diskFinding } from '../../src/cli/doctor/deployment.ts'
import type { SetupFinding } from '../../src/cli/doctor/finding.ts'
import { containerFinding, lockFinding, nodeFinding, portFinding } from '../../src/cli/doctor/machine.ts'
import { clockFinding } from '../../src/cli/doctor/marketplace.ts'
import { version } from '../../src/settings/config.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { lockFile } from '../../src/store/embedded/lock.ts'
import { listen } from '../support/listen.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { openPostOffice } from '../support/post-office.ts'
import { signIn } from './deployment.ts'
import { answerOf, inFolder, run, start } from './program.ts'

/** Whatever is not well comes with what helps. */
function said({ level, message, fix }: SetupFinding): string {
  assert.is(Boolean(fix), level !== 'ok', message)
  return `${level}: ${message}`
}

async function listening(answer: (path: string) => readonly [status: number, headers: object, body: string]) {
  return listen(({ url }, response) => {
    const [status, headers, body] = answer(url ?? '')
    response.writeHead(status, headers as Record<string, string>).end(body)
  })
}

test('Node: too old, no longer maintained, of a short line, fine', () => {
  const at = (version: string, day: string) => said(nodeFinding(version, Date.parse(day)))
  assert.match(at('20.18.3', '2026-01-01'), /^failed: Node 20\.18\.3 is older than 20\.19$/)
  assert.match(at('20.19.0', '2026-04-30'), /^ok: /)
  assert.match(at('20.19.0', '2026-05-01'), /^warning: .*since 2026-04-30$/)
  assert.match(at('23.1.0', '2025-01-01'), /^warning: /)
  assert.match(at('24.0.0', '2026-05-01'), /^ok: /)
})

test('port: free, of the dev of this folder, of another marketplace, of another program', async () => {
  const server = await listening(path => [200, path === '/healthz' ? { 'x-service-instance': 'one' } : {}, 'ok'])
  const plain = await listening(() => [200, {}, 'hello'])
  assert.match(said(await portFinding('127.0.0.1', server.port, 'one')), /^ok: .* the dev of this folder$/)
  assert.match(
    said(await portFinding('127.0.0.1', server.port, 'two', 'Take another', '/elsewhere')),
    /^warning: .* another marketplace: \S*node.* \(process \d+\)$/,
  )
  const own = await portFinding('127.0.0.1', server.port, undefined)
  assert.match(said(own), /^warning: .* is that of the marketplace which was started in this folder: /)
  assert.match(own.fix!, `marketplace doctor --url http://127.0.0.1:${server.port}`)
  const taken = said(await portFinding('127.0.0.1', plain.port, 'one'))
  assert.match(taken, new RegExp(`^warning: .* another program: \\S*node.* \\(process ${process.pid}\\)$`))
  await server.close()
  await plain.close()
  assert.match(said(await portFinding('127.0.0.1', server.port, 'one')), /^ok: Port \d+ is free$/)
  assert.match(said(await portFinding('192.0.2.1', 4000, undefined)), /^failed: .* \(EADDRNOTAVAIL\)$/)
})

test('container: localhost is the container itself', () => {
  assert.equal(containerFinding(false, 'http://127.0.0.1:4000'), [])
  const [inside] = containerFinding(true, 'http://localhost:4000')
  assert.is(inside?.level, 'warning')
  assert.match(inside?.fix ?? '', 'export MARKETPLACE_URL=http://host.docker.internal:4000')
  assert.match(inside?.fix ?? '', 'marketplace dev --port 4000 --public-url http://host.docker.internal:4000')
  assert.equal(containerFinding(true, 'https://market.example'), [])
})

test('clock: what the Date header and the way of a request allow is no difference', () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
  const theirs = Date.parse(date)
  const at = (before: number, after: number) => said(clockFinding(date, theirs + before, theirs + after))
  assert.match(at(0, 0), /^ok: /)
  assert.match(at(61_000, 61_000), /^ok: /)
  assert.match(at(61_001, 61_001), /^warning: This clock is 60 s ahead of/)
  assert.match(at(-60_001, -60_001), /^warning: This clock is 60 s behind/)
  assert.match(at(-60_001, 0), /^ok: /)
  assert.match(at(301_001, 301_001), /^failed: .*signatures are refused$/)
  assert.match(said(clockFinding(null, 0, 0)), /^warning: /)
})

test(
  'database: nobody has it, this process has it, a process that has gone had it',
  inFolder(async folder => {
    const file = join(folder, 'dev.db')
    assert.match(said(await lockFinding(file, false)), /^ok: Nobody has /)
    const lock = await lockFile(file, 'marketplace dev on port 4001')
    assert.match(said(await lockFinding(file, true)), /^ok: .* is held by marketplace dev on port 4001 \(process \d+/)
    const silent = await lockFinding(file, false)
    assert.match(said(silent), /^warning: .* does not answer$/)
    assert.match(silent.fix ?? '', `kill ${process.pid}`)
    const owner = JSON.parse(readFileSync(`${file}.lock`, 'utf8'))
    await lock.release()
    writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, pid: 2 ** 22 + 1, system: false }))
    assert.match(said(await lockFinding(file, false)), /^ok: .* was left by marketplace dev/)
    writeFileSync(`${file}.lock`, '{')
    assert.match(said(await lockFinding(file, false)), /^warning: .* can't be read$/)
  }),
)

test('secret: its form, and whose it is, told by fingerprints', () => {
  const agents = [
    { id: 'agt_1', slug: 'one', webhookSecret: 'whsec_b25l' },
    { id: 'agt_2', slug: 'two', webhookSecret: 'whsec_dHdv' },
  ]
  for (const [text, of, id, wanted] of [
    ['"whsec_b25l"', agents, undefined, /^failed: .* spaces or quotes/],
    ['whsec_b25l ', [], undefined, /^failed: .* spaces or quotes/],
    ['b25l', [], undefined, /^failed: .* does not begin with whsec_/],
    ['whsec_b25l', [], undefined, /^ok: .* has the fingerprint [0-9a-f]{12}$/],
    ['whsec_b25l', agents, undefined, /^ok: .* is that of one \(fingerprint [0-9a-f]{12}\)$/],
    ['whsec_b25l', agents, 'agt_1', /^ok: /],
    [
      'whsec_b25l',
      agents,
      'agt_2',
      /^failed: .* is that of one, not of two: fingerprint [0-9a-f]{12}, but two [0-9a-f]{12}$/,
    ],
    [
      'whsec_b3RoZXI=',
      agents,
      undefined,
      /^failed: .* is of no agent of this folder's dev: .*one [0-9a-f]{12}, two [0-9a-f]{12}$/,
    ],
  ] as const) {
    const finding = secretFinding(text, of, id)
    assert.match(said(finding), wanted)
    assert.not.match(JSON.stringify(finding), /b25l|dHdv|b3RoZXI/)
  }
})

test('address and certificate: each outcome of a request to the agent', () => {
  const about = { isDev: false, agent: 'my-agent' }
  const found = (url: string, result: Parameters<typeof addressResult>[1]) => addressResult(url, result, about, '')
  const levels = (...given: Parameters<typeof found>) => found(...given).map(({ check, level }) => `${check} ${level}`)
  const answered = { ok: true, status: 401, headers: {}, body: '', durationMs: 1 } as const
  const failure = (reason: 'tls' | 'dns') => ({ ok: false, reason, message: 'Why.', durationMs: 1 }) as const
  assert.equal(found('https://a.example', answered).map(said), [
    'ok: https://a.example answers',
    'ok: Its certificate is trusted',
  ])
  assert.equal(found('https://a.example', failure('tls')).map(said).slice(0, 1), ['ok: https://a.example is reached'])
  assert.equal(levels('https://a.example', answered), ['address ok', 'certificate ok'])
  assert.equal(levels('http://a.example', answered), ['address ok'])
  assert.equal(levels('https://a.example', failure('tls')), ['address ok', 'certificate failed'])
  assert.equal(levels('https://a.example', failure('dns')), ['address failed'])
  const { fix } = found('https://a.example', failure('dns'))[0]!
  assert.match(fix!, `${causes.unknown_name.fix}\nNext: `)
  assert.match(fix!, / test-connection my-agent$/)
})

test(
  'the command looks at the dev of a folder, tests an agent, and exits with 3 if something is wrong',
  inFolder(async folder => {
    const marketplace = await openTestMarketplace()
    const agent = await marketplace.list(await marketplace.join('builder'))
    const { key } = agent.builder
    const { instanceId: instance } = marketplace.market.config
    const state = join(folder, '.marketplace')
    mkdirSync(state)
    const accounts = { builder: { email: agent.builder.email, password: 'x', apiKey: key } }
    const agents = [{ id: agent.id, slug: 'test-writer', webhookSecret: agent.secret }]
    const keep = (more: object) => {
      const file = join(state, 'credentials.json')
      writeFileSync(file, JSON.stringify({ url: marketplace.url, instance, accounts, agents, ...more }), {
        mode: 0o600,
      })
      chmodSync(file, 0o600)
    }
    keep({})
    const env = { MARKETPLACE_PORT: '0', MARKETPLACE_WEBHOOK_SECRET: agent.secret }
    const levels = async (more: NodeJS.ProcessEnv = {}, ...flags: string[]) => {
      const { code, data, err } = await answerOf(['doctor', ...flags], folder, { ...env, ...more })
      assert.ok(data, err)
      assert.is(code, data.ok ? 0 : 3)
      return Object.fromEntries(data.findings.map(({ check, level }: SetupFinding) => [check, level]))
    }
    const well = await levels()
    const { node, ...rest } = well
    assert.not.equal(node, 'failed')
    const fine = Object.fromEntries(
      ['marketplace', 'clock', 'version', 'key', 'port', 'database', 'rights', 'secret'].map(name => [name, 'ok']),
    )
    assert.equal(rest, fine)

    // Its URL ends with localhost, where only the marketplace knows the certificate.
    assert.is((await levels({}, '--agent', 'test-writer')).callback, 'ok')
    agent.sink.status = 500
    const failing = await answerOf(['doctor', '--agent', 'test-writer'], folder, env)
    const endpoint = failing.data.findings.find(({ check }: SetupFinding) => check === 'endpoint')
    assert.equal([endpoint.level, endpoint.message], ['failed', 'The agent answered 500; exactly 200 is needed.'])
    assert.match(endpoint.fix, causes.agent_failed.fix)
    assert.is((await levels({ MARKETPLACE_PORT: 'x' })).settings, 'failed')
    assert.is((await levels({ MARKETPLACE_WEBHOOK_SECRET: 'whsec_b3RoZXI=' })).secret, 'failed')
    assert.is((await levels({ MARKETPLACE_KEY: `svc_${'0'.repeat(48)}` })).key, 'failed')
    keep({ instance: 'another' })
    assert.is((await levels()).marketplace, 'failed')
    keep({ url: 'http://127.0.0.1:1' })
    assert.is((await levels()).marketplace, 'failed')
    await marketplace.close()
  }),
)

test('a backup, a disk and a certificate: fine, near their end, at it', () => {
  const day = 86_400_000
  const at = (ms: number) => said(certificateFinding('market.example', ms, 0))
  assert.match(at(14 * day), /^ok: .* holds until 1970-01-15$/)
  assert.match(at(13 * day), /^warning: .* ends on 1970-01-14$/)
  assert.match(
    said(certificateFinding('market.example', 'certificate has expired', 0)),
    /^failed: .*: certificate has expired$/,
  )
  const MB = 2 ** 20
  assert.match(said(diskFinding('/data', 256 * MB, 100 * MB)), /^ok: 256 MB are free in \/data$/)
  assert.match(said(diskFinding('/data', 255 * MB, 100 * MB)), /^warning: /)
  assert.match(said(diskFinding('/data', 1_999 * MB, 1_000 * MB)), /^warning: /)
  assert.match(said(diskFinding('/data', 99 * MB, 100 * MB)), /^failed: .* less than a copy of the database takes$/)
})

test(
  'the command looks at the deployment of a folder as its operator does; each cure can be typed',
  inFolder(async folder => {
    const port = await freePort()
    const settings = { MARKETPLACE_ADMIN_EMAIL: 'root@example.com', MARKETPLACE_ADMIN_PASSWORD: 'correct horse' }
    const env = { ...settings, MARKETPLACE_PORT: `${port}` }
    const write = (more: object = {}) =>
      writeFileSync(
        join(folder, '.env'),
        Object.entries({ ...env, ...more })
          .map(([name, value]) => `${name}=${value}\n`)
          .join(''),
      )
    const findings = async () => {
      const { data, err } = await answerOf(['doctor'], folder)
      assert.ok(data, err)
      return new Map<string, SetupFinding>(data.findings.map((one: SetupFinding) => [one.check, one]))
    }
    const shown = (found: ReadonlyMap<string, SetupFinding>, check: string) =>
      found.has(check) ? said(found.get(check)!) : '-'
    write()
    chmodSync(join(folder, '.env'), 0o644)
    const server = start(['serve', '--json', '--rate-limits', 'off'], folder)
    const { url } = JSON.parse(await server.firstLine)
    let found = await findings()
    assert.match(shown(found, 'marketplace'), /^ok: /)
    assert.is(shown(found, 'port'), `ok: Port ${port} is that of the deployment of this folder`)
    assert.match(shown(found, 'database'), /^ok: marketplace\.db is held by marketplace serve on /)
    assert.match(shown(found, 'rights'), /^failed: Others on this machine can read \.env \(644\)$/)
    assert.match(shown(found, 'mail'), /^warning: No mail is configured/)
    assert.match(shown(found, 'disk'), /^(?:ok|warning): \d+ MB are free in \.$/)
    assert.match(shown(found, 'backup'), /^warning: No backup of marketplace\.db/)
    assert.is(shown(found, 'second factor'), '-', 'only an administrator sees that')
    for (const check of ['rights', 'backup']) {
      const [program, ...words] = found.get(check)!.fix!.split(' ')
      if (program === 'marketplace') assert.is((await run(words, folder)).code, 0)
      else execFileSync(program!, words, { cwd: folder })
    }
    assert.is((await signIn(folder, url)).code, 0)
    found = await findings()
    assert.match(
      shown(found, 'rights'),
      /^ok: Only you can read \.env, .*marketplace\.db\.key, \S*marketplace\.db-\S+\.db$/,
    )
    assert.match(shown(found, 'backup'), /^ok: The last backup is /)
    assert.is(shown(found, 'proxy'), '-', 'an address of http needs none')
    const copy = / is (\S+) of /.exec(shown(found, 'backup'))![1]!
    chmodSync(copy, 0o640)
    assert.is(shown(await findings(), 'rights'), `failed: Others on this machine can read ${copy} (640)`)
    chmodSync(copy, 0o600)
    assert.is(shown(found, 'second factor'), 'warning: Administrators without one: root@example.com')
    assert.match(found.get('second factor')!.fix!, `marketplace account totp begin --url ${url}`)

    const office = await openPostOffice()
    const mail = { MARKETPLACE_MAIL_FROM: 'market@example.com', MARKETPLACE_SMTP_URL: office.url }
    write({ ...mail, MARKETPLACE_ADMIN_TOTP: 'required', MARKETPLACE_BASE_URL: 'https://127.0.0.1:1' })
    found = await findings()
    assert.match(shown(found, 'mail'), /^ok: .* takes mail from market@example\.com$/)
    assert.match(shown(found, 'second factor'), /^failed: .*root@example\.com\. They can settle no money$/)
    assert.match(shown(found, 'certificate'), /^failed: 127\.0\.0\.1 has no right certificate: .*ECONNREFUSED/)
    assert.match(shown(found, 'proxy'), /^warning: https:\S+ is that of a proxy, and none is trusted/)
    assert.is(found.get('proxy')!.fix, 'echo MARKETPLACE_TRUST_PROXY=1 >> .env')
    assert.match(found.get('certificate')!.fix!, 'openssl s_client -connect 127.0.0.1:1 ')
    await office.close()
    write({ ...mail, MARKETPLACE_BASE_URL: 'https://127.0.0.1:1', MARKETPLACE_TRUST_PROXY: '1' })
    assert.match(shown(await findings(), 'proxy'), /^ok: /)
    write(mail)
    assert.match(shown(await findings(), 'mail'), /^failed: .* takes no mail: /)
    server.child.kill('SIGTERM')
    assert.is((await server.ended).code, 0)
    found = await findings()
    assert.match(shown(found, 'marketplace'), /^failed: /)
    assert.is(found.get('marketplace')!.fix, 'Start it: marketplace serve')
    assert.match(shown(found, 'port'), /^ok: Port \d+ is free$/)

    // What a flag alone has said is known all the same: from the database, or by its answer.
    const elsewhere = start(['serve', '--json', '--port', String(await freePort()), '--rate-limits', 'off'], folder)
    const at = new URL(JSON.parse(await elsewhere.firstLine).url)
    found = await findings()
    assert.is(shown(found, 'marketplace'), `ok: The marketplace at ${at.origin} answers`)
    assert.is(shown(found, 'port'), `ok: Port ${at.port} is that of the deployment of this folder`)
    const other = join(folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'marketplace.json'), JSON.stringify({ port: Number(at.port), url: at.origin }))
    const { out } = await run(['doctor'], other)
    assert.match(out, `✔ port         Port ${at.port} is that of the marketplace at ${at.origin}\n`)
    assert.not.match(out, 'database')
    elsewhere.child.kill('SIGTERM')
    assert.is((await elsewhere.ended).code, 0)
  }),
)

test(
  'the command tells a marketplace of another version from what is none',
  inFolder(async folder => {
    let instance: object = { 'x-service-instance': 'one', 'x-service-version': '9.9.9' }
    let isReady = true
    const other = await listening(path =>
      path === '/readyz' && !isReady ? [503, {}, 'the database takes no work'] : [200, { ...instance }, 'ok'],
    )
    const doctor = async () => (await run(['doctor', '--url', other.url], folder, { MARKETPLACE_PORT: '0' })).out
    assert.match(
      await doctor(),
      `! version      This is version ${version}, the marketplace is 9.9.9\n${' '.repeat(15)}npm install agent-marketplace@9.9.9\n`,
    )
    assert.match(await doctor(), '! key          No key is given')
    // In the folder of a deployment that was started before its upgrade.
    instance = { 'x-service-instance': 'one', 'x-service-version': '0.0.1' }
    const beside = join(folder, 'upgraded')
    mkdirSync(beside)
    writeFileSync(join(beside, 'marketplace.db'), '')
    const upgraded = await run(['doctor', '--url', other.url], beside, { MARKETPLACE_PORT: new URL(other.url).port })
    assert.match(
      upgraded.out,
      `the marketplace is 0.0.1\n${' '.repeat(15)}End it and start it again: marketplace serve\n`,
    )
    isReady = false
    const unready = await doctor()
    assert.match(
      unready,
      /^✖ ready {8}It takes no work \(503 of \/readyz\): the database takes no work\n +Its operator: /m,
    )
    assert.not.match(unready, /^. (?:key|container) /m)
    instance = {}
    assert.match(await doctor(), /^✖ marketplace {2}What answers at \S+ is no marketplace$/m)
    await other.close()
    assert.match(
      (await run(['doctor'], folder, { MARKETPLACE_PORT: '0' })).out,
      /^! marketplace {2}No marketplace is named$/m,
    )
  }),
)

test(
  '--fix closes the file with the keys to others, and has git leave it out',
  inFolder(async folder => {
    const file = join(folder, '.marketplace', 'credentials.json')
    mkdirSync(join(folder, '.marketplace'))
    writeFileSync(file, '{}')
    chmodSync(file, 0o640)
    execFileSync('git', ['init', '--quiet', folder])
    const env = { MARKETPLACE_PORT: '0' }
    const ill = await run(['doctor'], folder, env)
    assert.is(ill.code, 3)
    assert.match(ill.out, /^✖ rights +Others on this machine can read \S+ \(640\)\n +chmod 600 /m)
    assert.match(ill.out, /^✖ git +The next commit takes /m)
    assert.match(ill.err, 'doctor --fix')
    const mended = await run(['doctor', '--fix'], folder, env)
    assert.is(mended.code, 0, mended.out)
    assert.match(mended.out, /^✔ rights .*: mended$/m)
    assert.is(statSync(file).mode & 0o777, 0o600)
    assert.ok(existsSync(join(folder, '.marketplace', '.gitignore')))
    const well = await run(['doctor'], folder, env)
    assert.match(well.out, /^✔ rights +Only you can read /m)
    assert.match(well.out, /^✔ git +git leaves out /m)
  }),
)

test.run()
