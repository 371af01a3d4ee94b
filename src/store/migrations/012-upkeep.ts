/** Values that the marketplace itself keeps between starts, and jobs that run again and again. */
export const upkeep = `
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0
);
`
