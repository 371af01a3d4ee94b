/** Categories and agents, with their search words, connection tests and samples. */
export const agents = `
CREATE TABLE categories (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  slug TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL
);

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  builder_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  tagline TEXT NOT NULL,
  description TEXT NOT NULL,
  pricing_model TEXT NOT NULL,
  base_price BIGINT NOT NULL CHECK (base_price >= 200),
  turnaround_hours INTEGER NOT NULL,
  max_revisions INTEGER,
  tags TEXT NOT NULL,
  avatar_url TEXT,
  webhook_url TEXT,
  secret TEXT,
  secret_rotated_at BIGINT,
  old_secret TEXT,
  old_secret_until BIGINT,
  status TEXT NOT NULL CHECK (status IN ('draft', 'pending_review', 'verified', 'active', 'inactive')),
  review_reason TEXT,
  completed_tasks INTEGER NOT NULL DEFAULT 0,
  rating_sum INTEGER NOT NULL DEFAULT 0,
  rating_count INTEGER NOT NULL DEFAULT 0,
  rated1 INTEGER NOT NULL DEFAULT 0,
  rated2 INTEGER NOT NULL DEFAULT 0,
  rated3 INTEGER NOT NULL DEFAULT 0,
  rated4 INTEGER NOT NULL DEFAULT 0,
  rated5 INTEGER NOT NULL DEFAULT 0,
  last_pass_at BIGINT,
  failed_at BIGINT,
  tested_at BIGINT,
  deactivated_at BIGINT,
  deleted_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
-- Includes deleted agents, because authorizations for them are still listed.
CREATE INDEX agents_by_builder ON agents (builder_id, id);
-- The administrators' list.
CREATE INDEX agents_by_status ON agents (status, id) WHERE deleted_at IS NULL;
-- All columns that decide whether a listed agent is public. The public list is counted in this index alone.
CREATE INDEX agents_listed ON agents (last_pass_at, failed_at, builder_id, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
-- An index for each order of the public list. A page ends as soon as it is full.
CREATE INDEX agents_popular ON agents (completed_tasks, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_newest ON agents (created_at, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_priced ON agents (base_price, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
-- A builder's own list, and its length.
CREATE INDEX agents_kept ON agents (builder_id, id) WHERE deleted_at IS NULL;

CREATE TABLE agent_categories (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  category_id TEXT NOT NULL REFERENCES categories (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, category_id)
);
-- The agents of a category, and whether it has any.
CREATE INDEX agent_categories_by_category ON agent_categories (category_id, agent_id);

-- Search words. Only listed agents have rows.
CREATE TABLE agent_terms (
  term TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  PRIMARY KEY (term, agent_id)
);
-- All words of an agent are replaced at once.
CREATE INDEX agent_terms_by_agent ON agent_terms (agent_id);

-- The last test of an agent stays after its end. So a late callback can be told that it is late.
CREATE TABLE agent_tests (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL UNIQUE REFERENCES agents (id),
  started_at BIGINT NOT NULL,
  callback TEXT,
  result TEXT,
  ended INTEGER NOT NULL DEFAULT 0
);

-- The last reports of each agent, of tests by hand and of heartbeats.
CREATE TABLE agent_reports (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  kind TEXT NOT NULL CHECK (kind IN ('test', 'heartbeat')),
  tested_at BIGINT NOT NULL,
  report TEXT NOT NULL,
  PRIMARY KEY (agent_id, kind, tested_at)
);

CREATE TABLE samples (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  title TEXT NOT NULL,
  input TEXT,
  output TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
-- An agent's list, in its order.
CREATE INDEX samples_by_agent ON samples (agent_id, id);

INSERT INTO categories (id, name, slug, description) VALUES
  ('cat_writing', 'Writing', 'writing', 'Articles, copy, editing and proofreading'),
  ('cat_code', 'Code', 'code', 'Programming, review, debugging and tests'),
  ('cat_data', 'Data', 'data', 'Analysis, cleaning, extraction and charts'),
  ('cat_research', 'Research', 'research', 'Finding, comparing and summing up sources'),
  ('cat_design', 'Design', 'design', 'Graphics, interfaces and layout'),
  ('cat_translation', 'Translation', 'translation', 'From one language to another, and localisation'),
  ('cat_marketing', 'Marketing', 'marketing', 'Campaigns, search and social media'),
  ('cat_support', 'Support', 'support', 'Answering customers and sorting requests'),
  ('cat_media', 'Audio and video', 'audio-video', 'Transcription, editing and narration'),
  ('cat_automation', 'Automation', 'automation', 'Workflows, integrations and operations');
`
