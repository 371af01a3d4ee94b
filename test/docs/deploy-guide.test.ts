// engines: embedded; process: own
/** docs/guides/deploy.md: its table has every setting there is, and what its files run does run. */
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, run, start } from '../cli/program.ts'
import { sameNames } from '../support/same-names.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const guide = read('docs/guides/deploy.md')
const table = guide.slice(guide.indexOf('## Settings'), guide.indexOf('## The proxy'))

/** Flags that stand for a variable of the same name. */
const variableOf = (flag: string) => `MARKETPLACE_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`

test(
  'the table of settings has every flag of serve and every variable of the configuration, and no other',
  inFolder(async folder => {
    const { out } = await run(['serve', '--help'], folder)
    const flags = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)]
      .map(([, flag]) => flag!)
      .filter(flag => flag !== '--help')
    assert.ok(flags.length > 10)
    sameNames(new Set(table.match(/(?<=\| `)--[a-z-]+/g)), flags)
    // What exec and dev give to what they start; nobody sets it.
    const own = read('src/settings/config.ts').match(/(?<=env\.)MARKETPLACE_(?!(?:CREDENTIALS|TELLS_PARENT)\b)\w+/g)!
    const known = new Set([...own, ...flags.filter(flag => out.includes(variableOf(flag))).map(variableOf)])
    sameNames(new Set(table.match(/MARKETPLACE_\w+/g)), known)
  }),
)

test(
  'the unit starts the program with arguments that it takes, and the proxy leads to its port',
  inFolder(async folder => {
    const line = /^ExecStart=\/usr\/bin\/node \S+\/(bin\/marketplace\.js) (serve .*)$/m
    const [, program, args] = line.exec(read('docs/guides/deploy/marketplace.service'))!
    assert.ok(existsSync(new URL(`../../${program}`, import.meta.url)))
    const { child, ended, firstLine } = start([...args!.split(' '), '--json', '--port', '0'], folder)
    assert.is(JSON.parse(await firstLine).type, 'ready')
    child.kill('SIGTERM')
    assert.is((await ended).code, 0)
    const port = /--port <number> +0 takes a free one \(default: (\d+)/.exec(
      (await run(['serve', '--help'], folder)).out,
    )![1]
    for (const file of ['nginx.conf', 'Caddyfile'])
      assert.match(read(`docs/guides/deploy/${file}`), `127.0.0.1:${port}`)
    assert.match(read('docs/guides/deploy/Dockerfile'), `127.0.0.1:${port}/readyz`)
  }),
)

/** The `server` blocks of an nginx file, without comments. */
const serversOf = (file: string) =>
  file
    .replaceAll(/#.*$/gm, '')
    .split(/^server \{$/m)
    .slice(1)

test('the proxy answers for its own host alone, and sends nobody to a host of their choice', () => {
  const servers = serversOf(read('docs/guides/deploy/nginx.conf'))
  const defaults = servers.filter(block => block.includes('default_server'))
  assert.is(defaults.length, 1)
  for (const port of ['80', '443 ssl']) assert.match(defaults[0]!, `listen ${port} default_server;`)
  assert.match(defaults[0]!, 'return 444;')
  assert.match(defaults[0]!, 'ssl_reject_handshake on;')
  for (const block of servers) {
    assert.not.match(block, /\$(?:http_)?host\b/)
    if (block !== defaults[0]) assert.match(block, /server_name market\.example;/)
  }
})

test('the unit bounds its memory and its tasks, and leaves the program what it needs and no more', () => {
  const unit = read('docs/guides/deploy/marketplace.service')
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))
  assert.match(settings.get('MemoryMax')!, /^\d+G$/)
  assert.match(settings.get('TasksMax')!, /^\d+$/)
  assert.is(settings.get('ProtectSystem'), 'strict')
  assert.is(settings.get('CapabilityBoundingSet'), '')
  assert.is(settings.get('SystemCallFilter'), '@system-service')
  const on = [
    'NoNewPrivileges',
    'ProtectHome',
    'PrivateTmp',
    'PrivateDevices',
    'ProtectKernelModules',
    'RestrictNamespaces',
  ]
  for (const name of on) assert.is(settings.get(name), 'yes', name)
  // V8 writes code and then runs it.
  assert.not(settings.has('MemoryDenyWriteExecute'))
})

test('the Dockerfile copies what there is, and what the package needs to run', () => {
  const file = read('docs/guides/deploy/Dockerfile')
  const copied = [...file.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '))
  for (const name of copied) assert.ok(existsSync(new URL(`../../${name}`, import.meta.url)), name)
  const final = file.slice(file.lastIndexOf('FROM'))
  for (const part of ['bin', 'dist', 'node_modules', 'package.json', 'fixtures']) assert.match(final, part)
  assert.match(final, /^USER node$/m)
  assert.match(final, /^HEALTHCHECK /m)
})

test.run()
