/** The pages of administrators. */
export { default as Dispute } from './dispute.tsx'
export { default as Queues } from './queues.tsx'
export { default as Users } from './users.tsx'
