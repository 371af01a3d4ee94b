/**
 * Every command line that the program tells people to type, in one place: a test types each of them. The flags at the end
 * lead to the same marketplace as before.
 */
import { programName } from '../../settings/config.ts'
import { inUnits } from '../output/numbers.ts'
import type { Person, Target } from './target.ts'

/** What `mcp` tells of a command instead; undefined: nothing else. */
let otherForm: (words: string) => string | undefined = () => undefined

/** Whoever reads types no command lines. */
export const tellCommandsAs = (form: (words: string) => string | undefined): void => {
  otherForm = form
}

/** A command line as it is typed, or what stands for it where nobody types. */
export const typed = (words: string) => otherForm(words) ?? `${programName()} ${words}`

let typedNow: readonly string[] = []

/** The words of the command that runs. */
export const noteTyped = (words: readonly string[]): void => {
  typedNow = words
}

/** Whether words only say again what was typed just now, of the same thing by whatever name: they would come to the same. */
export function wasTypedNow(words: string): boolean {
  const wanted = words.split(' ')
  const rest = typedNow.slice(wanted.length)
  return (
    wanted.slice(0, -1).every((word, at) => word === typedNow[at]) &&
    typedNow.length >= wanted.length &&
    !wanted.some(isFlag) &&
    !typedNow.slice(0, wanted.length).some(isFlag) &&
    (rest.length === 0 || isFlag(rest[0]!))
  )
}

const isFlag = (word: string) => word.startsWith('-')

/** The flags that reach the marketplace of this command again, as this person. A key is never repeated. */
export const flagsToReach = ({ isDev, url, urlFrom, profile }: Target, person: Person) =>
  profile ? ` --profile ${profile}` : isDev ? ` --as ${person}` : urlFrom === '--url' ? ` --url ${url}` : ''

/** How a container calls a port of the machine that it runs on. */
export function fromContainer(url: string): string {
  const { protocol, port } = new URL(url)
  return `${protocol}//host.docker.internal${port && `:${port}`}`
}

export const nextSteps = {
  startDev: () => typed('dev'),
  /** For agents in containers. The port stays, as their address has it. */
  startForContainer: (url: string) => typed(`dev --port ${new URL(url).port || 80} --public-url ${fromContainer(url)}`),
  serve: () => typed('serve'),
  startEphemeral: () => typed('dev --ephemeral'),
  signIn: (url: string, email?: string, profile?: string) =>
    typed(`login --url ${url}${email ? ` --email ${email}` : ''}${profile ? ` --profile ${profile}` : ''}`),
  signOut: (url: string) => typed(`logout --url ${url}`),
  createKey: (flags = '') => typed(`keys create --name agent${flags}`),
  showKeys: (flags = '') => typed(`dev --show-keys${flags}`),
  printEnvironment: () => typed('dev --print-env'),
  becomeBuilder: (flags = '') => typed(`account update --builder${flags}`),
  openapi: () => typed('openapi'),
  helpOf: (command: string) => typed(`${command} --help`),
  /** A list without the flags that left some out. */
  wholeList: (command: string, flags = '') => typed(`${command}${flags}`),
  resetPassword: (flags = '') => typed(`account password reset${flags}`),
  searchAgents: (flags = '') => typed(`agents search${flags}`),
  advanceClock: () => typed('clock advance 1h'),
  call: () => typed('call /api/agents'),
  mend: () => typed('doctor --fix'),
  examine: (url: string) => typed(`doctor --url ${url}`),
  forward: () => typed('dev --forward-to http://localhost:3000/webhook'),
  forwardAs: (slug: string, url: string) => typed(`dev --agent ${slug}=${url}`),
  simulateBuyer: (agent: string, flags = '') => typed(`simulate buyer ${agent}${flags}`),
  /** The agent is one that the reader has yet to name. */
  judge: (check: string) => typed(`conformance --start 'node agent.js' --only ${check}`),
  verify: () => typed('verify --help'),
  sign: () => typed('sign --help'),

  createAgent: (flags = '') => typed(`agents create${flags}`),
  listAgents: (flags = '') => typed(`agents list${flags}`),
  saveWebhook: (slug: string, flags = '') =>
    typed(`agents update ${slug} --webhook-url https://agent.example/webhook${flags}`),
  rotateSecret: (slug: string, flags = '') => typed(`secret rotate ${slug}${flags}`),
  judgeListed: (agent: string, flags = '') => typed(`conformance --agent ${agent}${flags}`),
  testConnection: (agent: string, flags = '') => typed(`test-connection ${agent}${flags}`),
  publishAgent: (slug: string, flags = '') => typed(`agents publish ${slug}${flags}`),
  reactivateAgent: (slug: string, flags = '') => typed(`agents reactivate ${slug}${flags}`),
  approveAgent: (id: string, flags = '') => typed(`admin agents approve ${id}${flags}`),
  /** FILE, the database, is for people to fill in where it is not known. */
  backup: (to: string, file = 'FILE') => typed(`db backup ${file} ${to}`),
  secondFactor: (flags = '') => typed(`account totp begin${flags}`),
  confirmFactor: (flags = '') => typed(`account totp confirm 123456${flags}`),
  /** The secret is for people to fill in. */
  emit: (url: string) => typed(`emit task.submitted --to ${url} --secret whsec_…`),
  /** Of a right agent this is refused. */
  emitForged: (url: string) => typed(`emit task.submitted --forge wrong-secret --to ${url}`),
  deliveries: (agent: string, flags = '') => typed(`deliveries list ${agent}${flags}`),
  allDeliveries: (flags = '') => typed(`deliveries list${flags}`),
  showDelivery: (id: string, flags = '') => typed(`deliveries show ${id}${flags}`),
  showExchange: (id: string) => typed(`exchanges show ${id}`),
  exchanges: () => typed('exchanges list'),
  logs: () => typed('logs'),
  why: (about: string, flags = '') => typed(`why ${about}${flags}`),
  resendDelivery: (id: string, flags = '') => typed(`deliveries resend ${id}${flags}`),

  listTasks: (flags = '') => typed(`tasks list${flags}`),
  showTask: (id: string, flags = '') => typed(`tasks show ${id}${flags}`),
  cancelTask: (id: string, flags = '') => typed(`tasks cancel ${id}${flags}`),
  listFaults: () => typed('fault list'),
  deposit: (cents: number, flags = '') => typed(`wallet deposit ${inUnits(cents)}${flags}`),
  resolveTask: (id: string, flags = '') => typed(`admin resolve ${id} --outcome refund${flags}`),
} as const
