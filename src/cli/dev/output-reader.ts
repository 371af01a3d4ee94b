/** Notices when nobody reads our output any more: a program that has ended, as in `marketplace dev | head -1`, or npx on a terminal. */
import { readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { foregroundGroup, isRunning } from '../../shared/process-identity.ts'

const LOOK_MS = 1_000
const OURS = '/proc/self/fd/1'

/**
 * Calls back once. A write that fails tells it everywhere; where nothing is written, a write of nothing tells it of a socket, which
 * a pipe of Node is, and of a pipe Linux tells which process has the other end. Returns how to stop looking.
 */
export function whenReaderEnds(onEnd: () => void): () => void {
  process.stdout.on('error', onEnd)
  if (process.stdout.isTTY) return whenTerminalGoes(onEnd)
  const pipe = linkAt(OURS)
  if (pipe?.startsWith('socket:')) return every(() => isClosed(1), onEnd)
  let reader = pipe?.startsWith('pipe:') ? readerOf(pipe) : undefined
  // A process of another user can't be seen, so nothing is known of its end.
  if (reader === undefined) return () => {}
  return every(() => {
    if (linkAt(reader!) !== pipe) reader = readerOf(pipe!)
    return reader === undefined
  }, onEnd)
}

/**
 * The end of a terminal is a signal, which by itself would leave the agent of `--run` behind. When what was typed there has been killed, such
 * as npx, the shell has its terminal back, and no Ctrl-C reaches us. What nohup, setsid or `&` start goes on.
 */
function whenTerminalGoes(onEnd: () => void): () => void {
  process.once('SIGHUP', onEnd)
  const typed = foregroundGroup()
  return typed === null || typed === process.pid ? () => {} : every(() => !isRunning(typed, null), onEnd)
}

function every(isOver: () => boolean, onEnd: () => void): () => void {
  const timer = setInterval(() => isOver() && onEnd(), LOOK_MS).unref()
  return () => clearInterval(timer)
}

/** Whether nobody reads from a socket any more. */
function isClosed(fd: number): boolean {
  try {
    writeSync(fd, '')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE'
  }
}

/** Returns the path of a descriptor that reads from the pipe. */
function readerOf(pipe: string): string | undefined {
  for (const pid of likelyFirst(entriesOf('/proc').map(Number))) {
    const fd = entriesOf(`/proc/${pid}/fd`).find(fd => linkAt(`/proc/${pid}/fd/${fd}`) === pipe && reads(pid, fd))
    if (fd !== undefined) return `/proc/${pid}/fd/${fd}`
  }
  return undefined
}

/** Our parent, or what a shell has started right beside us. The processes of a busy machine take a while to look through. */
function likelyFirst(names: readonly number[]): number[] {
  const { pid: own, ppid } = process
  const distance = (pid: number) => (pid === ppid ? 0 : Math.abs(pid - own))
  return names.filter(pid => pid > 0 && pid !== own).sort((one, other) => distance(one) - distance(other))
}

/** Whether a descriptor is open for reading: the last digit of its flags modulo 4 is the mode, in octal, and 0 means reading. */
function reads(pid: number, fd: string): boolean {
  try {
    return /^flags:\s*\d*[04]$/m.test(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))
  } catch {
    return false
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
