/** Sums and counts that every write keeps up to date. Computing them anew would take longer and longer as tables grow. */
export const usage = `
CREATE TABLE file_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
-- The fullest accounts, for administrators; metrics show the first.
CREATE INDEX file_usage_by_size ON file_usage (bytes, user_id);

CREATE TABLE text_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
-- The fullest accounts, for administrators; metrics show the first.
CREATE INDEX text_usage_by_size ON text_usage (bytes, user_id);

CREATE TABLE tallies (
  name TEXT NOT NULL,
  slot INTEGER NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (name, slot)
);
`
