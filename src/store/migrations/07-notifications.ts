/** What people are told of, and work that comes back by the clock. */
export const notifications = `
CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  type TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  message TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  read_at BIGINT
);
CREATE INDEX notifications_by_user ON notifications (user_id, id);
CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0
);
`
