/** Values that the marketplace itself keeps between starts, and jobs that run again and again. */
export const upkeep = `
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- What was removed of banned accounts. The stage and the row behind which it goes on are for a purge that was cut off.
CREATE TABLE purges (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  begun_by TEXT NOT NULL,
  begun_at BIGINT NOT NULL,
  ended_at BIGINT,
  stage INTEGER NOT NULL,
  after TEXT NOT NULL,
  rows_removed BIGINT NOT NULL,
  bytes_removed BIGINT NOT NULL,
  open_tasks INTEGER NOT NULL
);

CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0
);
`
