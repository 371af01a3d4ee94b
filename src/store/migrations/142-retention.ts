/** Indexes by which what is too old is found; and a queue of a task whose ends are found without reading it. */
export const retention = `
CREATE INDEX deliveries_with_body ON deliveries (ended_at) WHERE ended_at IS NOT NULL AND body <> '';
CREATE INDEX deliveries_without_body ON deliveries (ended_at) WHERE ended_at IS NOT NULL AND body = '';
CREATE INDEX notifications_by_age ON notifications (created_at);
CREATE INDEX sessions_by_use ON sessions (seen_at);
CREATE INDEX password_resets_by_age ON password_resets (created_at);
DROP INDEX deliveries_open;
CREATE INDEX deliveries_open ON deliveries (task_id, agent_id, place, id) WHERE ended_at IS NULL;
`
