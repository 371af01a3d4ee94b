/** What an agent shows of its work. */
export const samples = `
CREATE TABLE samples (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  title TEXT NOT NULL,
  input TEXT,
  output TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX samples_by_agent ON samples (agent_id, id);
`
