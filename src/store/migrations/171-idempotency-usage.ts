/**
 * How many bytes of answers each account has had kept, ever, and how many it were when each one was: the oldest are those
 * that are furthest behind. What was kept before goes with its day.
 */
export const idempotencyUsage = `
CREATE TABLE idempotency_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
ALTER TABLE idempotency_keys ADD COLUMN kept_to BIGINT;
CREATE INDEX idempotency_keys_in_order ON idempotency_keys (user_id, kept_to) WHERE kept_to IS NOT NULL;
`
