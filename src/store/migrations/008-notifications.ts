/** Notifications, and mails that wait to be sent. A mail has only the id of its subject: no text and no secret. */
export const notifications = `
CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  type TEXT NOT NULL,
  agent_id TEXT REFERENCES agents (id),
  message TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  read_at BIGINT
);
-- A user's list, in its order.
CREATE INDEX notifications_by_user ON notifications (user_id, id);
-- What a user has not read.
CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
-- Retention finds old rows.
CREATE INDEX notifications_by_age ON notifications (created_at);

CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('password_reset', 'notification')),
  about TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
-- The mails to send next.
CREATE INDEX mails_due ON mails (next_at, id);
`
