/** Sums and counts that every write keeps up to date. Computing them anew would take longer and longer as tables grow. */
export const usage = `
CREATE TABLE file_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
-- Metrics show the largest account.
CREATE INDEX file_usage_by_size ON file_usage (bytes);

CREATE TABLE text_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
-- Metrics show the largest account.
CREATE INDEX text_usage_by_size ON text_usage (bytes);

CREATE TABLE tallies (
  name TEXT NOT NULL,
  slot INTEGER NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (name, slot)
);
`
