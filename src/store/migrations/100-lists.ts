/**
 * Lists in the order of an index, and lengths that are counted in an index or kept as tallies: neither takes longer as
 * the tables grow. A server, which finds rows on other pages than their neighbours, has in the index what it counts by.
 */
export const lists = `
CREATE TABLE tallies (
  name TEXT NOT NULL,
  slot INTEGER NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (name, slot)
);
INSERT INTO tallies (name, slot, count) SELECT 'users', 0, COUNT(*) FROM users HAVING COUNT(*) > 0;
INSERT INTO tallies (name, slot, count) SELECT 'agents', 0, COUNT(*) FROM agents
  WHERE deleted_at IS NULL HAVING COUNT(*) > 0;
INSERT INTO tallies (name, slot, count) SELECT 'tasks', 0, COUNT(*) FROM tasks HAVING COUNT(*) > 0;
INSERT INTO tallies (name, slot, count) SELECT kind || ' ' || status, 0, COUNT(*) FROM transfers
  WHERE kind IN ('deposit', 'withdrawal') GROUP BY kind, status;
INSERT INTO tallies (name, slot, count) SELECT 'disputed tasks', 0, COUNT(*) FROM tasks
  WHERE disputed = 1 HAVING COUNT(*) > 0;
DROP INDEX transfers_by_payer;
CREATE INDEX transfers_by_payer ON transfers (payer_id, kind, id) WHERE payer_id IS NOT NULL;
DROP INDEX transfers_by_payee;
CREATE INDEX transfers_by_payee ON transfers (payee_id, kind, id) WHERE kind IN ('deposit', 'release', 'refund');
CREATE INDEX payments_in_order ON transfers (kind, id) WHERE kind IN ('deposit', 'withdrawal');
DROP INDEX tasks_by_buyer;
CREATE INDEX tasks_by_buyer ON tasks (buyer_id, id /*+ , status */);
DROP INDEX tasks_by_builder;
CREATE INDEX tasks_by_builder ON tasks (builder_id, id /*+ , status, buyer_id, hirer_id */);
DROP INDEX tasks_by_hirer;
CREATE INDEX tasks_by_hirer ON tasks (hirer_id, id /*+ , status, buyer_id */) WHERE hirer_id IS NOT NULL;
CREATE INDEX tasks_disputed ON tasks (id) WHERE disputed = 1;
DROP INDEX agents_by_status;
CREATE INDEX agents_by_status ON agents (status, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_listed ON agents (last_pass_at, failed_at, builder_id, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_popular ON agents (completed_tasks, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_newest ON agents (created_at, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_priced ON agents (base_price, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX users_stopped ON users (id) WHERE suspended = 1 OR banned = 1;
`
