/** Responses that are kept for repeated requests, and counts of requests for rate limits. */
export const requests = `
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
  kept_to BIGINT,
  PRIMARY KEY (user_id, method, path, key)
);
-- Retention finds old rows.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
-- The oldest rows of an account are removed when it has too many.
CREATE INDEX idempotency_keys_in_order ON idempotency_keys (user_id, kept_to) WHERE kept_to IS NOT NULL;

CREATE TABLE idempotency_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);

-- Used if several processes share a database. Unlogged, because a crash may forget counts.
CREATE /*+ UNLOGGED */ TABLE rate_windows (
  category TEXT NOT NULL,
  address TEXT NOT NULL,
  count INTEGER NOT NULL,
  ends_at BIGINT NOT NULL,
  PRIMARY KEY (category, address)
);
-- Retention finds rows that are over.
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
`
