/** The queue of a task to one agent is found without a look at the agent's other queues. */
export const queues = `
DROP INDEX deliveries_by_task;
CREATE INDEX deliveries_by_task ON deliveries (task_id, agent_id, state, id);
`
