/** The pages of who has agents. */
export { default as AgentEdit } from './agent-edit.tsx'
export { default as Agents } from './agents.tsx'
export { default as Deliveries } from './deliveries.tsx'
