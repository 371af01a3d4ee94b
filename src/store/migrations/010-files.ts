/** Files that no deliverable holds yet, and where each living instance keeps files. All times are real. */
export const files = `
-- What a crash leaves here is removed later.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  begun_at BIGINT NOT NULL,
  doomed INTEGER NOT NULL DEFAULT 0 CHECK (doomed IN (0, 1))
);
-- The oldest are looked for first.
CREATE INDEX uploads_by_age ON uploads (begun_at, id);

CREATE TABLE file_locations (
  instance TEXT PRIMARY KEY,
  location TEXT NOT NULL,
  holder TEXT NOT NULL,
  leased_until BIGINT NOT NULL
);
`
