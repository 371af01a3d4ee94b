/** Categories, agents, their terms and tests. */
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
  last_pass_at BIGINT,
  failed_at BIGINT,
  tested_at BIGINT,
  deactivated_at BIGINT,
  deleted_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX agents_by_builder ON agents (builder_id, id);
CREATE INDEX agents_by_status ON agents (status, completed_tasks, id);
CREATE TABLE agent_categories (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  category_id TEXT NOT NULL REFERENCES categories (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, category_id)
);
CREATE INDEX agent_categories_by_category ON agent_categories (category_id, agent_id);
CREATE TABLE agent_terms (
  term TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  PRIMARY KEY (term, agent_id)
);
CREATE INDEX agent_terms_by_agent ON agent_terms (agent_id);
CREATE TABLE agent_tests (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL UNIQUE REFERENCES agents (id),
  started_at BIGINT NOT NULL,
  callback TEXT
);
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
