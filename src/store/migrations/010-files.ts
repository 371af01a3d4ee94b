/** Files that belong to no deliverable yet, and where each running instance keeps files. All times are real time. */
export const files = `
-- Rows that a crash leaves here are removed later, with their files.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  begun_at BIGINT NOT NULL,
  doomed INTEGER NOT NULL DEFAULT 0 CHECK (doomed IN (0, 1))
);
-- The oldest rows are removed first.
CREATE INDEX uploads_by_age ON uploads (begun_at, id);

CREATE TABLE file_locations (
  instance TEXT PRIMARY KEY,
  location TEXT NOT NULL,
  holder TEXT NOT NULL,
  leased_until BIGINT NOT NULL
);
`
