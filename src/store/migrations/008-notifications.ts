/** What people are told of, and letters that wait to be sent, by what they are about: no text and no secret is kept. */
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
-- A user's list, in its order.
CREATE INDEX notifications_by_user ON notifications (user_id, id);
-- Retention looks for those that are too old.
CREATE INDEX notifications_by_age ON notifications (created_at);

CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('password_reset', 'notification')),
  about TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
-- What is sent next.
CREATE INDEX mails_due ON mails (next_at, id);
`
