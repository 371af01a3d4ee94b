/** The tables, as numbered steps that never change once released. One text for every engine; times are ms since 1970. */

const accounts = `
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  is_builder INTEGER NOT NULL,
  is_admin INTEGER NOT NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  banned INTEGER NOT NULL DEFAULT 0,
  identity_verified INTEGER NOT NULL DEFAULT 0,
  chargebacks INTEGER NOT NULL DEFAULT 0,
  connect_status TEXT NOT NULL DEFAULT 'not_connected',
  created_at BIGINT NOT NULL
);
CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE,
  key_prefix TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX api_keys_by_user ON api_keys (user_id, id);
CREATE TABLE api_key_uses (
  key_id TEXT PRIMARY KEY,
  last_used_at BIGINT NOT NULL
);
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
`

const agents = `
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

const tasks = `
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  buyer_id TEXT NOT NULL REFERENCES users (id),
  builder_id TEXT NOT NULL REFERENCES users (id),
  buyer_agent_id TEXT,
  budget_authorization_id TEXT,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  requirements TEXT,
  agreed_price BIGINT NOT NULL CHECK (agreed_price >= 200),
  status TEXT NOT NULL
    CHECK (status IN ('draft', 'pending', 'in_progress', 'delivered', 'completed', 'cancelled')),
  revision_count INTEGER NOT NULL DEFAULT 0,
  max_revisions INTEGER,
  disputed INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  submitted_at BIGINT,
  accepted_at BIGINT,
  delivered_at BIGINT,
  completed_at BIGINT,
  cancelled_at BIGINT,
  updated_at BIGINT NOT NULL
);
CREATE INDEX tasks_by_buyer ON tasks (buyer_id, id);
CREATE INDEX tasks_by_builder ON tasks (builder_id, id);
CREATE INDEX tasks_by_agent ON tasks (agent_id, id);
CREATE TABLE deliverables (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  content TEXT,
  notes TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX deliverables_by_task ON deliverables (task_id, id);
CREATE TABLE disputes (
  task_id TEXT PRIMARY KEY REFERENCES tasks (id),
  status TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  reason TEXT NOT NULL,
  opened_at BIGINT NOT NULL,
  opened_from TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  resolved_at BIGINT,
  outcome TEXT,
  refund_amount BIGINT
);
CREATE INDEX disputes_by_status ON disputes (status, task_id);
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  sender_id TEXT NOT NULL,
  sender_role TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX messages_by_task ON messages (task_id, id);
CREATE TABLE reviews (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE REFERENCES tasks (id),
  agent_id TEXT NOT NULL,
  buyer_id TEXT NOT NULL,
  rating INTEGER NOT NULL,
  comment TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX reviews_by_agent ON reviews (agent_id, id);
CREATE TABLE seen_signatures (
  signature TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE INDEX seen_signatures_by_time ON seen_signatures (seen_at);
`

const ledger = `
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  user_id TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('available', 'held', 'clearing', 'world', 'payouts', 'platform')),
  balance BIGINT NOT NULL DEFAULT 0,
  CHECK (kind = 'world' OR balance >= 0)
);
CREATE TABLE transfers (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  payer_id TEXT,
  payee_id TEXT,
  amount BIGINT NOT NULL CHECK (amount > 0),
  task_id TEXT,
  status TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  decided_at BIGINT
);
CREATE INDEX transfers_by_payer ON transfers (payer_id, id);
CREATE INDEX transfers_by_payee ON transfers (payee_id, id);
CREATE INDEX transfers_by_task ON transfers (task_id);
CREATE INDEX transfers_pending ON transfers (kind, status, id);
CREATE TABLE entries (
  transfer_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  amount BIGINT NOT NULL CHECK (amount <> 0),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (transfer_id, account_id)
);
CREATE INDEX entries_by_account ON entries (account_id, transfer_id);
CREATE TABLE settlements (
  task_id TEXT PRIMARY KEY REFERENCES tasks (id),
  builder_id TEXT NOT NULL,
  released BIGINT NOT NULL CHECK (released >= 0),
  refunded BIGINT NOT NULL CHECK (refunded >= 0),
  status TEXT NOT NULL CHECK (status IN ('clearing', 'final')),
  reversed INTEGER NOT NULL DEFAULT 0 CHECK (reversed IN (0, 1)),
  clears_at BIGINT,
  created_at BIGINT NOT NULL
);
CREATE INDEX settlements_due ON settlements (status, clears_at);
INSERT INTO accounts (id, user_id, kind) VALUES
  ('world', NULL, 'world'), ('payouts', NULL, 'payouts'), ('platform', NULL, 'platform');
`

const outbox = `
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  task_id TEXT NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  ended_at BIGINT
);
CREATE INDEX deliveries_due ON deliveries (state, agent_id, next_at);
CREATE INDEX deliveries_by_task ON deliveries (task_id, state, id);
CREATE INDEX deliveries_by_agent ON deliveries (agent_id, id);
CREATE TABLE attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id),
  attempt INTEGER NOT NULL,
  url TEXT NOT NULL,
  status INTEGER,
  reason TEXT,
  message TEXT NOT NULL,
  answer TEXT,
  duration_ms INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);
`

export const migrations = [
  { id: 1, name: 'accounts', sql: accounts },
  { id: 2, name: 'agents', sql: agents },
  { id: 3, name: 'tasks', sql: tasks },
  { id: 4, name: 'ledger', sql: ledger },
  { id: 5, name: 'outbox', sql: outbox },
] as const
