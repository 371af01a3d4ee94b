// engines: embedded; process: own; lengths: short, long
/** What the machine refuses: full disks, folders that take nothing, a folder that is gone. One sentence, the next step, nothing half done. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wholeTable } from '../../src/cli/command-table.ts'
import { savedSession, saveSession } from '../../src/cli/connection/session-file.ts'
import { keepCredentials, makeFolder, readCredentials, stateFolderOf } from '../../src/cli/dev/state-folder.ts'
import { withPortOwner } from '../../src/cli/doctor/port-owner.ts'
import { withSystemReason } from '../../src/cli/output/disk-faults.ts'
import { isLong } from '../support/length.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { runHere } from './in-process.ts'
import { answerOf, COMMAND, type Ended, inFolder, run, startDev } from './program.ts'
import { withRefusedWrite } from './refused-writes.ts'

/** One sentence, one next step, no stack. */
function isRefusal({ code, err }: Ended, wanted: { code: number; says: string; next: string }): void {
  assert.is(code, wanted.code, err)
  const [sentence = '', ...steps] = err.trim().split('\n')
  assert.match(sentence, wanted.says)
  assert.match(sentence, /^[A-Za-z./-].*\.$/)
  assert.is(steps.length, 1, err)
  assert.match(steps[0]!, wanted.next)
}

/** A command of the shell, in which $MARKETPLACE is the program. */
async function inShell(command: string, cwd: string): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1', XDG_CONFIG_HOME: join(cwd, 'config') }
  const child = spawn('sh', ['-c', command.replaceAll('$MARKETPLACE', COMMAND)], { cwd, env })
  const said = { out: '', err: '' }
  child.stdin.end()
  child.stdout.on('data', chunk => (said.out += chunk))
  child.stderr.on('data', chunk => (said.err += chunk))
  const [code] = await once(child, 'close')
  return { code, ...said }
}

/** As on a full disk, files can be made, and nothing can be written into them; pipes go on. */
const FULL = 'ulimit -f 0;'

test(
  'a disk that takes nothing refuses dev, serve and a backup in a sentence, and they leave nothing behind',
  inFolder(async folder => {
    const dev = await inShell(`${FULL} $MARKETPLACE dev --port 0`, folder)
    isRefusal(dev, {
      code: 1,
      says: "dev can't keep its state in .marketplace: files may not become so large here (ulimit -f).",
      next: 'marketplace dev --ephemeral keeps nothing; --db FILE keeps it elsewhere.',
    })
    // An empty .gitignore would let the next commit take the keys of a later dev.
    assert.equal(readdirSync(join(folder, '.marketplace')), [])

    const serve = await inShell(`${FULL} $MARKETPLACE serve --port 0 --json`, folder)
    assert.is(serve.code, 1)
    const { type, message } = JSON.parse(serve.out)
    assert.is(type, 'error')
    assert.is(
      message,
      "serve can't keep its data in marketplace.db: files may not become so large here (ulimit -f). --db FILE keeps it elsewhere.",
    )
    assert.equal(readdirSync(folder), ['.marketplace'])
    for (const [flags, code, says] of [
      [['--db', ':memory:', '--files', '/proc/x'], 1, /can't keep files in \/proc\/x: .*--files FOLDER/],
      [['--db', 'mysql://x/y'], 2, /^--db takes a file or postgres:\/\/…, not mysql:\/\/\.$/],
    ] as const) {
      const refused = await run(['serve', '--port', '0', '--json', ...flags], folder)
      assert.is(refused.code, code)
      assert.match(JSON.parse(refused.out.trim().split('\n').at(-1)!).message, says)
    }
    assert.equal(readdirSync(folder), ['.marketplace'])

    assert.is((await run(['db', 'migrate', 'a.db'], folder)).code, 0)
    const before = readdirSync(folder)
    isRefusal(await inShell(`${FULL} $MARKETPLACE db backup a.db b.db`, folder), {
      code: 1,
      says: "b.db.partial.tmp can't be written: files may not become so large here (ulimit -f).",
      next: 'name a file on another disk',
    })
    assert.equal(readdirSync(folder), before)
  }),
)

test(
  'where there is no room for a session, login says so before it asks for a password, and the session before stays',
  inFolder(async folder => {
    const requests: string[] = []
    const market = await openTestMarketplace({ log: entry => entry.type === 'request' && requests.push(entry.path) })
    const { email, password } = await market.join('ann')
    const login = ['login', '--url', market.url, '--email', email, '--password-stdin']
    const nowhere: [NodeJS.ProcessEnv, string][] = [
      [
        { XDG_CONFIG_HOME: '/dev/null/config' },
        "A session can't be kept in /dev/null/config/marketplace/sessions: a part",
      ],
      [{ XDG_CONFIG_HOME: undefined, HOME: '/dev/null' }, "A session can't be kept in /dev/null/.config/marketplace/"],
    ]
    requests.length = 0
    for (const [env, says] of nowhere) {
      const refused = await run(login, folder, env, password)
      isRefusal(refused, { code: 1, says, next: 'XDG_CONFIG_HOME names another folder' })
    }
    const homeless = await run(login, folder, { XDG_CONFIG_HOME: undefined, HOME: '' }, password)
    assert.is(homeless.code, 2)
    assert.match(homeless.err, 'This user has no home folder to keep a session in: set XDG_CONFIG_HOME to a folder')
    assert.equal(requests, [], 'nothing was sent')
    assert.not(existsSync(join(folder, '.config')), 'an empty HOME is not the working folder')

    // What the hint says works.
    assert.is((await run(login, folder, {}, password)).code, 0)
    const sessions = join(folder, 'config', 'marketplace', 'sessions')
    const [name = ''] = readdirSync(sessions)
    const kept = readFileSync(join(sessions, name), 'utf8')
    requests.length = 0
    const flags = login.slice(1).join(' ')
    isRefusal(await inShell(`${FULL} printf %s '${password}' | $MARKETPLACE login ${flags}`, folder), {
      code: 1,
      says: `A session can't be kept in ${sessions}: files may not become so large here (ulimit -f).`,
      next: 'XDG_CONFIG_HOME names another folder',
    })
    assert.equal(requests, [])
    assert.equal(readdirSync(sessions), [name])
    assert.is(readFileSync(join(sessions, name), 'utf8'), kept)
    assert.is((await run(['whoami', '--url', market.url], folder)).code, 0)
    await market.close()
  }),
)

const CODES = ['ENOSPC', 'EROFS', 'EACCES'] as const

/** Refuses the first call, the second and so on, until there are no more. */
function eachRefusal(folder: string, prepare: () => void, work: () => void, check: (call: string) => void): void {
  for (const code of CODES) {
    for (let nth = 1; ; nth++) {
      prepare()
      const call = withRefusedWrite(folder, nth, code, work)
      if (call === null) {
        assert.ok(nth > 1, 'the disk was never asked')
        break
      }
      check(`${call} refused by ${code}`)
    }
  }
}

test(
  'whichever call the disk refuses, a session and the credentials of a dev are the old or the new ones, whole',
  inFolder(async folder => {
    const { XDG_CONFIG_HOME: before } = process.env
    process.env.XDG_CONFIG_HOME = folder
    const sessions = join(folder, 'marketplace', 'sessions')
    const session = { url: 'http://127.0.0.1:1', email: 'ann@example.com', instance: null }
    let kept = ''
    eachRefusal(
      folder,
      () => saveSession({ ...session, cookie: 'session=old' }),
      () => {
        kept = 'session=new'
        try {
          saveSession({ ...session, cookie: 'session=new' })
        } catch (error) {
          kept = 'session=old'
          assert.match(
            (error as Error).message,
            /^A session can't be kept in .*: (?:the disk is full|it is on|this user)/,
          )
        }
      },
      call => {
        // A folder that is there need not be made, so that refusal harms nothing.
        assert.ok(kept === 'session=old' || call.startsWith('mkdir'), call)
        assert.is(savedSession(session.url)?.cookie, kept, call)
        assert.is(readdirSync(sessions).length, 1, `${call}: ${readdirSync(sessions)}`)
      },
    )
    if (before === undefined) delete process.env.XDG_CONFIG_HOME
    else process.env.XDG_CONFIG_HOME = before

    const state = stateFolderOf({ file: join(folder, '.marketplace', 'dev.db') }, false)
    const someone = { apiKey: 'svc_x' }
    const accounts = { buyer: someone, builder: someone, admin: someone }
    const credentials = { url: 'http://127.0.0.1:1', accounts, agents: [] } as never
    makeFolder(state)
    eachRefusal(
      folder,
      () => keepCredentials(state, { ...(credentials as object), instance: 'old' } as never),
      () => {
        try {
          keepCredentials(state, { ...(credentials as object), instance: 'new' } as never)
        } catch {}
      },
      call => {
        assert.is(readCredentials(state)?.instance, 'old', call)
        assert.equal(readdirSync(state.folder!).sort(), ['.gitignore', 'credentials.json'], call)
      },
    )
    for (const rubbish of ['', '{', 'null', JSON.stringify({ db: state.db, accounts: {}, agents: [] })]) {
      writeFileSync(join(state.folder!, 'credentials.json'), rubbish)
      assert.is(readCredentials(state), null, rubbish)
    }
  }),
)

test(
  'a folder that is gone, is a file, or takes no temporary files is told as what it is',
  inFolder(async folder => {
    const gone = 'mkdir gone; cd gone; rmdir ../gone;'
    const programs = await inShell(`${gone} $MARKETPLACE agents list --json`, folder)
    assert.equal(JSON.parse(programs.out), {
      success: false,
      error: 'The folder that you are in has been deleted',
      hint: 'Go to one that is there, such as: cd ~',
    })
    isRefusal(await inShell(`${gone} $MARKETPLACE dev --port 0`, folder), {
      code: 1,
      says: "dev can't keep its state in .marketplace: there is no such file or folder.",
      next: 'dev --ephemeral',
    })
    writeFileSync(join(folder, '.marketplace'), 'mine')
    isRefusal(await run(['dev', '--port', '0'], folder), {
      code: 1,
      says: "dev can't keep its state in .marketplace: a part of its path is no folder.",
      next: 'dev --ephemeral',
    })
    assert.is(readFileSync(join(folder, '.marketplace'), 'utf8'), 'mine')
    for (const args of [['exec', '--', 'true'], ['demo']]) {
      isRefusal(await run(args, folder, { TMPDIR: '/dev/null' }), {
        code: 1,
        says: 'No temporary folder can be made in /dev/null: a part of its path is no folder.',
        next: 'TMPDIR names another place.',
      })
    }
    // Python's virtual environments are folders of this name.
    mkdirSync(join(folder, '.env'))
    assert.match((await run(['agents', 'list'], folder)).err, /^Which marketplace\?/)
  }),
)

test(
  'output that a full disk loses is an error, and a reader that has ended is none',
  inFolder(async folder => {
    isRefusal(await inShell('$MARKETPLACE version > /dev/full', folder), {
      code: 1,
      says: 'What was to be printed is lost: the disk is full.',
      next: 'Make room, or send it elsewhere.',
    })
    // One that fills takes the beginning.
    isRefusal(await inShell('ulimit -f 16; $MARKETPLACE openapi > cut.json', folder), {
      code: 1,
      says: 'What was to be printed is lost: files may not become so large here (ulimit -f).',
      next: 'Make room, or send it elsewhere.',
    })
    assert.is(statSync(join(folder, 'cut.json')).size, 8_192)
    const logged = await inShell("$MARKETPLACE exec --log /dev/full -- sh -c 'exit 7'", folder)
    assert.is(logged.code, 7, 'the code of the command')
    assert.is(logged.err, '--log /dev/full is not whole: the disk is full.\n')

    const { stop } = await startDev(folder)
    const fields = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00']
    const { data } = await answerOf(['tasks', 'create', '--agent', 'sample-agent', ...fields], folder)
    for (const command of [`tasks watch ${data.id} --timeout 30`, ...(isLong ? ['openapi', 'dev'] : [])]) {
      const piped = await inShell(`{ $MARKETPLACE ${command}; echo $? >&2; } | head -c 1`, folder)
      assert.is(piped.err, '0\n', command)
      assert.is(piped.out.length, 1, command)
    }
    const closed = await inShell('$MARKETPLACE openapi >&-; echo $? >&2', folder)
    assert.is(closed.err, '0\n')
    const deaf = await inShell('{ $MARKETPLACE nonsense 2>&1 >/dev/null; echo $? > code; } | true', folder)
    assert.is(deaf.err, '')
    assert.is(readFileSync(join(folder, 'code'), 'utf8'), '2\n')
    await stop()
  }),
)

/** What people read of an error that nobody has explained. */
const SYSTEM_WORDS =
  /\bE(?!CONNREFUSED)[A-Z]{3,}\b|illegal operation|permission denied|not permitted|no such file or directory/

const NAMES_A_FILE = /<(?:file|folder|path|to|database)>/

/** What a command asks for before it looks at its files. */
const besides: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  verify: [
    ['--timestamp', '1'],
    ['--signature', 'x'],
    ['--secret-file', 'secret'],
    ['--file', 'file'],
  ],
  sign: [['--secret-file', 'secret']],
  conformance: [['--secret-file', 'secret']],
  'simulate buyers': [['--url', 'http://127.0.0.1:9/']],
  emit: [['--to', 'http://127.0.0.1:9/']],
  'db copy': [['--to', 'postgres://nobody@127.0.0.1:9/none']],
}

/** Each command line that names a file, with `at` in one of the places for it. */
async function linesWith(at: string): Promise<string[][]> {
  const { chapters } = await wholeTable()
  // The four that would go on are refused by tests of their own.
  const records = chapters.flatMap(([, all]) => all).filter(({ name }) => !/^(?:dev|serve|demo|mcp)$/.test(name))
  return records.flatMap(({ name, takes = [], options }) => {
    const filled: string[] = takes
      .filter(arg => arg.startsWith('<'))
      .map(arg => (NAMES_A_FILE.test(arg) ? 'whole.db' : arg === '<event>' ? 'task.submitted' : 'x'))
    const places = [...filled.keys()].filter(n => filled[n] === 'whole.db').map(n => filled.with(n, at))
    const flags = options.map(([flag]) => flag).filter(flag => NAMES_A_FILE.test(flag))
    const given = flags.map(flag => [...filled, flag.split(' ').find(word => word.startsWith('--'))!, at])
    return [...places, ...given].map(words => [
      ...[...name.split(' '), ...words],
      ...(besides[name] ?? []).flatMap(([flag, value]) => (words.includes(flag) ? [] : [flag, value])),
      ...(name === 'exec' ? ['--', 'true'] : []),
    ])
  })
}

/** Works in a folder with a database, a file and an empty folder. */
const inOwnFolder = (work: (folder: string) => Promise<void>) =>
  inFolder(async folder => {
    const before = process.cwd()
    process.chdir(folder)
    try {
      assert.is((await runHere('db', 'migrate', 'whole.db')).code, 0)
      writeFileSync('file', 'mine')
      writeFileSync('secret', `whsec_${'a'.repeat(40)}`)
      mkdirSync('folder')
      await work(folder)
    } finally {
      process.chdir(before)
    }
  })

test(
  'every command that names a file says in words why it can not have it',
  inOwnFolder(async () => {
    let refused = 0
    const more = ['nowhere/file', '/proc/none/file', 'n'.repeat(300)]
    for (const at of ['file/below', 'folder', ...(isLong ? more : [])]) {
      for (const words of await linesWith(at)) {
        const { code, out, err } = await runHere(...words)
        const line = `${words.join(' ')}: ${out}${err}`
        assert.not.match(out + err, SYSTEM_WORDS, line)
        assert.not.match(err, 'A file can', line)
        if (code !== 0 && err.includes(at)) refused++
      }
      assert.is(readFileSync('file', 'utf8'), 'mine')
    }
    assert.ok(refused > (isLong ? 75 : 30), `${refused} were refused`)
  }),
)

test(
  'who may not write in a folder is told so, by each command that would',
  inOwnFolder(async folder => {
    const lines = [
      ['db', 'backup', 'whole.db', 'copy.db'],
      ['db', 'snapshot', 'whole.db'],
      ['db', 'migrate', 'new.db'],
      ['exec', '--log', 'log', '--', 'true'],
    ]
    // Once as it is, so that what the commands load is there for another user.
    for (const [first = '', ...rest] of lines)
      await runHere(first, ...rest.map(word => word.replace(/^(?:copy|new|log)/, 'file/$&')))
    for (const name of readdirSync('.')) chmodSync(name, 0o755)
    const before = readdirSync('.')
    chmodSync('.', 0o555)
    const isRoot = process.geteuid!() === 0
    try {
      if (isRoot) process.seteuid!(65_534) // root may write everywhere
      for (const words of lines) {
        const { code, err } = await runHere(...words)
        assert.ok(code !== 0, words.join(' '))
        assert.match(err, /can't be (?:used|written): this user has no right to\./, words.join(' '))
        assert.not.match(err, SYSTEM_WORDS)
      }
    } finally {
      if (isRoot) process.seteuid!(0)
      chmodSync(folder, 0o755)
    }
    assert.equal(readdirSync('.'), before)
  }),
)

test('a port that this user may not have is no fault of the disk', async () => {
  const error = Object.assign(new Error('low'), { code: 'EACCES', syscall: 'listen' })
  assert.is(withSystemReason(error), error)
  const { message } = await withPortOwner(error, '127.0.0.1', 80)
  assert.is(message, 'This user may not listen on port 80')
})

test.run()
