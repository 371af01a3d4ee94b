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

-- What has come of the tasks of an agent that works, of who buys, and of a budget on one day.
CREATE TABLE work_sums (
  whose TEXT NOT NULL,
  slot INTEGER NOT NULL,
  held BIGINT NOT NULL DEFAULT 0,
  in_dispute BIGINT NOT NULL DEFAULT 0,
  earned BIGINT NOT NULL DEFAULT 0,
  clearing BIGINT NOT NULL DEFAULT 0,
  done BIGINT NOT NULL DEFAULT 0,
  submitted BIGINT NOT NULL DEFAULT 0,
  completed BIGINT NOT NULL DEFAULT 0,
  cancelled BIGINT NOT NULL DEFAULT 0,
  disputed BIGINT NOT NULL DEFAULT 0,
  lost BIGINT NOT NULL DEFAULT 0,
  ratings BIGINT NOT NULL DEFAULT 0,
  stars BIGINT NOT NULL DEFAULT 0,
  spent BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (whose, slot)
);
`
