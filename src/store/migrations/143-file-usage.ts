/** Bytes of files that the deliverables of each account hold. Those of before are counted by a start. */
export const fileUsage = `
CREATE TABLE file_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
CREATE INDEX file_usage_by_size ON file_usage (bytes);
INSERT INTO settings (name, value) SELECT 'file_usage', 'uncounted'
  WHERE EXISTS (SELECT 1 FROM deliverables WHERE files IS NOT NULL);
`
