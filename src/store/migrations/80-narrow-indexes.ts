/** Indexes that hold only the rows they are asked for: each row less is one write less when money moves or a task is sent. */
export const narrowIndexes = `
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (agent_id, next_at, id) WHERE state = 'pending';
DROP INDEX deliveries_by_task;
CREATE INDEX deliveries_open ON deliveries (task_id, agent_id, state, id) WHERE ended_at IS NULL;
DROP INDEX transfers_by_payee;
CREATE INDEX transfers_by_payee ON transfers (payee_id, id) WHERE kind IN ('deposit', 'release');
DROP INDEX transfers_by_task;
CREATE INDEX releases_by_task ON transfers (task_id) WHERE kind = 'release';
DROP INDEX transfers_pending;
CREATE INDEX payments ON transfers (kind, status, id) WHERE kind IN ('deposit', 'withdrawal');
DROP INDEX tasks_by_hirer;
CREATE INDEX tasks_by_hirer ON tasks (hirer_id, id) WHERE hirer_id IS NOT NULL;
DROP INDEX tasks_by_buyer_agent;
CREATE INDEX tasks_by_buyer_agent ON tasks (buyer_agent_id, id) WHERE buyer_agent_id IS NOT NULL;
DROP INDEX tasks_by_authorization;
CREATE INDEX tasks_by_authorization ON tasks (budget_authorization_id, submitted_at)
  WHERE budget_authorization_id IS NOT NULL;
`
