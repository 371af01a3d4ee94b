/** What people do next: without it, few tasks and agents would come far. */
import type { EndpointName } from '../../src/api/endpoints/index.ts'
import { keyTaken } from './account-steps.ts'
import { secretTaken } from './agent-steps.ts'
import type { Answer } from './pair.ts'
import { ownerOf, type Plan, type Scene } from './plan.ts'
import { taskSteps } from './task-steps.ts'

type Next = readonly [EndpointName, Plan]
type FollowUp = (scene: Scene, answer: Answer, plan: Plan) => Next | undefined

// biome-ignore lint/suspicious/noExplicitAny: whatever the wire says
const dataOf = ({ data }: Answer): any => data

const either =
  (...all: FollowUp[]): FollowUp =>
  (scene, answer, plan) =>
    scene.random.pick(all)(scene, answer, plan)

const ofTask =
  (names: readonly EndpointName[], who: 'buyerId' | 'builderId'): FollowUp =>
  (scene, answer) => {
    const task = dataOf(answer).task ?? dataOf(answer)
    const name = scene.random.pick(names)
    const { body, form } = (taskSteps as Record<string, (scene: Scene) => Plan | undefined>)[name]?.(scene) ?? {}
    const by = ownerOf(scene, task[who])
    return [name, { by, at: { id: task.id }, ...(form ? { form } : { body }) }]
  }

const signed =
  (action: 'accept' | 'deliver'): FollowUp =>
  ({ model }, answer) => {
    const task = dataOf(answer)
    const secret = model.secrets.get(task.agentId)
    if (!secret) return undefined
    const content = action === 'deliver' ? { content: 'What was asked for.' } : {}
    return ['agentCallback', { at: { id: task.id }, body: { action, ...content }, signed: { secret, ageMs: 0 } }]
  }

/** A key may be repeated, and then the answer holds no secret; a plan says which agent it was about. */
const ofAgent =
  (name: EndpointName, byAdmin = false): FollowUp =>
  (scene, answer, plan) => {
    const id = dataOf(answer).builder ? dataOf(answer).id : plan.at?.id
    const agent = scene.model.get(id ?? '')
    if (!agent?.builder) return undefined
    const by = byAdmin ? scene.model.admin : ownerOf(scene, agent.builder.id)
    return [name, { by, at: { id: agent.id }, ...(name === 'rotateSecret' && { done: secretTaken(scene) }) }]
  }

const afterTest: FollowUp = (scene, answer, plan) => {
  const status = scene.model.get(plan.at?.id ?? '')?.status
  if (status === 'draft') return ofAgent('publishAgent')(scene, answer, plan)
  return status === 'inactive' ? ofAgent('reactivateAgent')(scene, answer, plan) : undefined
}

const approvedAgent = ofAgent('approveAgent', true)

const rejected: FollowUp = (scene, answer, plan) => {
  const [name, asked] = ofAgent('rejectAgent', true)(scene, answer, plan) ?? []
  return name && [name, { ...asked, body: { reason: 'Not yet.' } }]
}

const confirmed =
  (name: EndpointName): FollowUp =>
  ({ model }, answer) => [name, { by: model.admin, via: 'session', at: { id: dataOf(answer).id } }]

const delivered = either(ofTask(['deliverTask', 'agentDeliver'], 'builderId'), signed('deliver'))
const approved = ofTask(['approveTask', 'approveTask', 'approveTask', 'requestRevision', 'disputeTask'], 'buyerId')

export const followUps: Partial<Record<EndpointName, FollowUp>> = {
  register: ({ model }) => {
    const by = model.people.at(-1)!
    return ['createKey', { by, via: 'session', body: { name: 'the first' }, done: keyTaken }]
  },
  createAgent: ofAgent('rotateSecret'),
  rotateSecret: ofAgent('testConnection'),
  testConnection: afterTest,
  publishAgent: either(approvedAgent, approvedAgent, approvedAgent, rejected),
  deactivateAgent: ofAgent('testConnection'),
  createTask: ofTask(['submitTask'], 'buyerId'),
  submitTask: either(ofTask(['acceptTask', 'agentAccept'], 'builderId'), signed('accept')),
  acceptTask: delivered,
  agentAccept: delivered,
  deliverTask: approved,
  agentDeliver: approved,
  sendMessage: ({ model, random }, answer) => {
    const task = model.get(dataOf(answer).taskId)
    const by = model.person(random.often(0.5) ? task?.buyerId : task?.builderId)
    if (!task || !by || random.often(0.5)) return undefined
    return ['sendMessage', { by, at: { id: task.id }, body: { content: random.text(1, 200) } }]
  },
  approveTask: ofTask(['submitReview'], 'buyerId'),
  deposit: either(...Array(6).fill(confirmed('confirmDeposit')), confirmed('rejectDeposit')),
  // Of no other account is there a purge, and few are banned.
  adminUpdateUser: (scene, answer, plan) =>
    dataOf(answer).banned === true ? confirmed('purgeUser')(scene, answer, plan) : undefined,
  withdraw: either(confirmed('confirmWithdrawal'), confirmed('rejectWithdrawal')),
}
