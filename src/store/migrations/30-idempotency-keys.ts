/** Requests that may be sent again, and how they were answered. */
export const idempotencyKeys = `
CREATE TABLE idempotency_keys (
  user_id TEXT NOT NULL REFERENCES users (id),
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER,
  answer TEXT,
  running_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, method, path, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
`
