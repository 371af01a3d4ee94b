/** Files that were taken in and that no deliverable holds yet: what a crash leaves here is removed later. Real time. */
export const uploads = `
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  begun_at BIGINT NOT NULL,
  doomed INTEGER NOT NULL DEFAULT 0 CHECK (doomed IN (0, 1))
);
CREATE INDEX uploads_by_age ON uploads (begun_at, id);
`
