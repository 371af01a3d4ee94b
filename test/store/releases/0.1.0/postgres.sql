CREATE TABLE IF NOT EXISTS migrations
  (id BIGINT PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, applied_at BIGINT NOT NULL);
CREATE TABLE users (
  id TEXT COLLATE "C" PRIMARY KEY,
  email TEXT COLLATE "C" NOT NULL UNIQUE,
  name TEXT COLLATE "C" NOT NULL,
  password_hash TEXT COLLATE "C" NOT NULL,
  is_builder INTEGER NOT NULL,
  is_admin INTEGER NOT NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  banned INTEGER NOT NULL DEFAULT 0,
  identity_verified INTEGER NOT NULL DEFAULT 0,
  chargebacks INTEGER NOT NULL DEFAULT 0,
  connect_status TEXT COLLATE "C" NOT NULL DEFAULT 'not_connected',
  created_at BIGINT NOT NULL
);
CREATE INDEX users_stopped ON users (id) WHERE suspended = 1 OR banned = 1;
CREATE INDEX users_by_name ON users (LOWER(name), id);
CREATE TABLE sessions (
  token_hash TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL DEFAULT '',
  address TEXT COLLATE "C",
  user_agent TEXT COLLATE "C"
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_use ON sessions (seen_at);
CREATE UNIQUE INDEX sessions_by_id ON sessions (id);
CREATE TABLE api_keys (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  name TEXT COLLATE "C" NOT NULL,
  key_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  key_prefix TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX api_keys_by_user ON api_keys (user_id, id);
CREATE TABLE api_key_uses (
  key_id TEXT COLLATE "C" PRIMARY KEY,
  last_used_at BIGINT NOT NULL
);
CREATE TABLE second_factors (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  secret TEXT COLLATE "C" NOT NULL,
  last_step BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  enabled_at BIGINT
);
CREATE TABLE recovery_codes (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  code_hash TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);
CREATE  UNLOGGED  TABLE guesses (
  subject TEXT COLLATE "C" PRIMARY KEY,
  count INTEGER NOT NULL,
  next_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
CREATE INDEX guesses_by_end ON guesses (ends_at);
CREATE TABLE known_addresses (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  address TEXT COLLATE "C" NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, address)
);
CREATE TABLE password_resets (
  token_hash TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  mail_id TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX password_resets_by_user ON password_resets (user_id, created_at);
CREATE INDEX password_resets_by_age ON password_resets (created_at);
CREATE TABLE security_notices (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  kind TEXT COLLATE "C" NOT NULL,
  detail TEXT COLLATE "C",
  address TEXT COLLATE "C",
  created_at BIGINT NOT NULL
);
CREATE TABLE categories (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  slug TEXT COLLATE "C" NOT NULL UNIQUE,
  description TEXT COLLATE "C" NOT NULL
);
CREATE TABLE agents (
  id TEXT COLLATE "C" PRIMARY KEY,
  slug TEXT COLLATE "C" NOT NULL UNIQUE,
  builder_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  name TEXT COLLATE "C" NOT NULL,
  tagline TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C" NOT NULL,
  pricing_model TEXT COLLATE "C" NOT NULL,
  base_price BIGINT NOT NULL CHECK (base_price >= 200),
  turnaround_hours INTEGER NOT NULL,
  max_revisions INTEGER,
  tags TEXT COLLATE "C" NOT NULL,
  avatar_url TEXT COLLATE "C",
  webhook_url TEXT COLLATE "C",
  secret TEXT COLLATE "C",
  secret_rotated_at BIGINT,
  old_secret TEXT COLLATE "C",
  old_secret_until BIGINT,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('draft', 'pending_review', 'verified', 'active', 'inactive')),
  review_reason TEXT COLLATE "C",
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
CREATE INDEX agents_by_builder ON agents (builder_id, id);
CREATE INDEX agents_by_status ON agents (status, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_listed ON agents (last_pass_at, failed_at, builder_id, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_popular ON agents (completed_tasks, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_newest ON agents (created_at, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_priced ON agents (base_price, id)
  WHERE status IN ('verified', 'active') AND deleted_at IS NULL;
CREATE INDEX agents_kept ON agents (builder_id, id) WHERE deleted_at IS NULL;
CREATE TABLE agent_categories (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  category_id TEXT COLLATE "C" NOT NULL REFERENCES categories (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, category_id)
);
CREATE INDEX agent_categories_by_category ON agent_categories (category_id, agent_id);
CREATE TABLE agent_terms (
  term TEXT COLLATE "C" NOT NULL,
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  PRIMARY KEY (term, agent_id)
);
CREATE INDEX agent_terms_by_agent ON agent_terms (agent_id);
CREATE TABLE agent_tests (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES agents (id),
  started_at BIGINT NOT NULL,
  callback TEXT COLLATE "C",
  result TEXT COLLATE "C",
  ended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE agent_reports (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('test', 'heartbeat')),
  tested_at BIGINT NOT NULL,
  report TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (agent_id, kind, tested_at)
);
CREATE TABLE samples (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  title TEXT COLLATE "C" NOT NULL,
  input TEXT COLLATE "C",
  output TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX samples_by_agent ON samples (agent_id, id);
CREATE TABLE tasks (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  buyer_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  builder_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  buyer_agent_id TEXT COLLATE "C",
  budget_authorization_id TEXT COLLATE "C",
  title TEXT COLLATE "C" NOT NULL,
  agreed_price BIGINT NOT NULL CHECK (agreed_price >= 200),
  status TEXT COLLATE "C" NOT NULL
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
  updated_at BIGINT NOT NULL,
  hirer_id TEXT COLLATE "C",
  
  description TEXT COLLATE "C" NOT NULL,
  requirements TEXT COLLATE "C"
);
CREATE INDEX tasks_by_agent ON tasks (agent_id, id);
CREATE INDEX tasks_by_buyer_agent ON tasks (buyer_agent_id, id) WHERE buyer_agent_id IS NOT NULL;
CREATE INDEX tasks_by_buyer_builder ON tasks (buyer_id, builder_id, id, agent_id) WHERE submitted_at IS NOT NULL;
CREATE INDEX tasks_by_buyer_agent_builder ON tasks (buyer_agent_id, builder_id, id, agent_id)
  WHERE buyer_agent_id IS NOT NULL AND submitted_at IS NOT NULL;
CREATE INDEX tasks_by_authorization ON tasks (budget_authorization_id)
  WHERE budget_authorization_id IS NOT NULL AND (status = 'pending' OR status = 'in_progress' OR status = 'delivered' OR disputed = 1);
CREATE INDEX tasks_by_buyer ON tasks (buyer_id, id);
CREATE INDEX tasks_by_builder ON tasks (builder_id, id  , status, buyer_id, hirer_id );
CREATE INDEX tasks_by_hirer ON tasks (hirer_id, id  , status, buyer_id ) WHERE hirer_id IS NOT NULL;
CREATE INDEX tasks_by_buyer_status ON tasks (buyer_id, status, id);
CREATE INDEX tasks_by_builder_status ON tasks (builder_id, status, id  , buyer_id, hirer_id ) WHERE status <> 'draft';
CREATE INDEX tasks_by_hirer_status ON tasks (hirer_id, status, id  , buyer_id ) WHERE hirer_id IS NOT NULL;
CREATE INDEX tasks_disputed ON tasks (id) WHERE disputed = 1;
CREATE TABLE task_steps (
  task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
  position INTEGER NOT NULL,
  trigger TEXT COLLATE "C" NOT NULL,
  from_status TEXT COLLATE "C" NOT NULL,
  to_status TEXT COLLATE "C" NOT NULL,
  party TEXT COLLATE "C" NOT NULL,
  actor_id TEXT COLLATE "C" NOT NULL,
  via TEXT COLLATE "C" NOT NULL,
  request_id TEXT COLLATE "C",
  at BIGINT NOT NULL,
  real_at BIGINT NOT NULL,
  PRIMARY KEY (task_id, position)
);
CREATE TABLE deliverables (
  id TEXT COLLATE "C" PRIMARY KEY,
  task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
  content TEXT COLLATE "C",
  notes TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  files TEXT COLLATE "C",
  position INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX deliverables_in_order ON deliverables (task_id, position);
CREATE TABLE disputes (
  task_id TEXT COLLATE "C" PRIMARY KEY REFERENCES tasks (id),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'resolved')),
  reason TEXT COLLATE "C" NOT NULL,
  opened_at BIGINT NOT NULL,
  opened_from TEXT COLLATE "C" NOT NULL,
  opened_by TEXT COLLATE "C" NOT NULL,
  resolved_at BIGINT,
  outcome TEXT COLLATE "C",
  refund_amount BIGINT,
  outcome_reason TEXT COLLATE "C"
);
CREATE INDEX disputes_open ON disputes (opened_at) WHERE status = 'open';
CREATE TABLE messages (
  id TEXT COLLATE "C" PRIMARY KEY,
  task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
  sender_id TEXT COLLATE "C" NOT NULL,
  sender_role TEXT COLLATE "C" NOT NULL,
  content TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX messages_by_task ON messages (task_id, id);
CREATE TABLE reviews (
  id TEXT COLLATE "C" PRIMARY KEY,
  task_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES tasks (id),
  agent_id TEXT COLLATE "C" NOT NULL,
  buyer_id TEXT COLLATE "C" NOT NULL,
  rating INTEGER NOT NULL,
  comment TEXT COLLATE "C",
  created_at BIGINT NOT NULL
);
CREATE INDEX reviews_by_agent ON reviews (agent_id, id);
CREATE TABLE seen_signatures (
  signature TEXT COLLATE "C" PRIMARY KEY,
  task_id TEXT COLLATE "C" NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT COLLATE "C" NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE INDEX seen_signatures_by_time ON seen_signatures (seen_at);
CREATE TABLE budget_authorizations (
  id TEXT COLLATE "C" PRIMARY KEY,
  owner_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  max_per_task BIGINT NOT NULL CHECK (max_per_task >= 200),
  max_daily BIGINT NOT NULL,
  max_monthly BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused')),
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (owner_id, agent_id),
  CHECK (max_per_task <= max_daily AND max_daily <= max_monthly)
);
CREATE INDEX budget_authorizations_by_owner ON budget_authorizations (owner_id, id);
CREATE INDEX budget_authorizations_by_agent ON budget_authorizations (agent_id, id);
CREATE TABLE budget_categories (
  authorization_id TEXT COLLATE "C" NOT NULL REFERENCES budget_authorizations (id),
  category_id TEXT COLLATE "C" NOT NULL REFERENCES categories (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (authorization_id, category_id)
);
CREATE INDEX budget_categories_by_category ON budget_categories (category_id, authorization_id);
CREATE TABLE accounts (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C",
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('available', 'held', 'clearing', 'world', 'payouts', 'platform')),
  balance BIGINT NOT NULL DEFAULT 0,
  CHECK (kind = 'world' OR balance >= 0),
  CHECK (id = kind || COALESCE(':' || user_id, '')),
  CHECK ((user_id IS NULL) = (kind = 'world' OR kind = 'payouts' OR kind = 'platform'))
);
CREATE TABLE transfers (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL,
  payer_id TEXT COLLATE "C",
  payee_id TEXT COLLATE "C",
  amount BIGINT NOT NULL CHECK (amount > 0),
  task_id TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'clearing', 'completed', 'rejected', 'reversed')),
  description TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  decided_at BIGINT,
  reason TEXT COLLATE "C",
  
  CONSTRAINT like_its_kind CHECK (
    (kind = 'hold' AND payer_id IS NOT NULL AND payee_id IS NOT NULL AND payer_id = payee_id AND task_id IS NOT NULL
      AND status = 'completed') OR
    (kind = 'release' AND payer_id IS NOT NULL AND payee_id IS NOT NULL AND task_id IS NOT NULL
      AND (status = 'clearing' OR status = 'completed' OR status = 'reversed')) OR
    (kind = 'refund' AND payer_id IS NULL AND payee_id IS NOT NULL AND task_id IS NOT NULL AND status = 'completed') OR
    (kind = 'deposit' AND payer_id IS NULL AND payee_id IS NOT NULL AND task_id IS NULL
      AND (status = 'pending' OR status = 'completed' OR status = 'rejected')) OR
    (kind = 'withdrawal' AND payer_id IS NOT NULL AND payee_id IS NULL AND task_id IS NULL
      AND (status = 'pending' OR status = 'completed' OR status = 'rejected'))
  )
);
CREATE INDEX transfers_by_task ON transfers (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX payments ON transfers (kind, status, id  , created_at ) WHERE kind IN ('deposit', 'withdrawal');
CREATE INDEX transfers_by_payer ON transfers (payer_id, kind, id) WHERE payer_id IS NOT NULL;
CREATE INDEX transfers_by_payee ON transfers (payee_id, kind, id) WHERE kind <> 'hold' AND kind <> 'withdrawal';
CREATE INDEX deposits_by_time ON transfers (payee_id, created_at) WHERE kind = 'deposit';
CREATE INDEX payments_in_order ON transfers (kind, id) WHERE kind IN ('deposit', 'withdrawal');
CREATE TABLE entries (
  leg_id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL,
  debited_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  credited_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  amount BIGINT NOT NULL CHECK (amount > 0),
  created_at BIGINT NOT NULL,
  
  CONSTRAINT where_its_kind_may CHECK (
    (kind = 'hold' AND debited_id LIKE 'available:%' AND credited_id = 'held:' || SUBSTR(debited_id, 11)) OR
    (kind = 'release' AND debited_id LIKE 'held:%' AND (credited_id LIKE 'clearing:%' OR credited_id LIKE 'available:%')) OR
    (kind = 'cleared' AND credited_id LIKE 'available:%' AND debited_id = 'clearing:' || SUBSTR(credited_id, 11)) OR
    (kind = 'refund' AND credited_id LIKE 'available:%'
      AND (debited_id = 'held:' || SUBSTR(credited_id, 11) OR debited_id LIKE 'clearing:%')) OR
    (kind = 'deposit' AND debited_id = 'world' AND credited_id LIKE 'available:%') OR
    (kind = 'withdrawal' AND debited_id LIKE 'available:%' AND credited_id = 'payouts') OR
    (kind = 'paid_out' AND debited_id = 'payouts' AND credited_id = 'world') OR
    (kind = 'given_back' AND debited_id = 'payouts' AND credited_id LIKE 'available:%')
  )
);
CREATE TABLE settlements (
  task_id TEXT COLLATE "C" PRIMARY KEY REFERENCES tasks (id),
  builder_id TEXT COLLATE "C" NOT NULL,
  released BIGINT NOT NULL CHECK (released >= 0),
  refunded BIGINT NOT NULL CHECK (refunded >= 0),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('clearing', 'final')),
  reversed INTEGER NOT NULL DEFAULT 0 CHECK (reversed IN (0, 1)),
  clears_at BIGINT,
  created_at BIGINT NOT NULL
);
CREATE INDEX settlements_due ON settlements (status, clears_at);
CREATE INDEX settlements_by_builder ON settlements (builder_id, task_id);
CREATE TABLE senders (
  id TEXT COLLATE "C" PRIMARY KEY,
  beats BIGINT NOT NULL
);
CREATE TABLE deliveries (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
  task_id TEXT COLLATE "C" NOT NULL,
  event TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  
  sender TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  redelivery_of TEXT COLLATE "C",
  position INTEGER NOT NULL DEFAULT 0,
  counted_to TEXT COLLATE "C",
  
  body TEXT COLLATE "C" NOT NULL
);
CREATE INDEX deliveries_by_agent ON deliveries (agent_id, id);
CREATE INDEX deliveries_by_task ON deliveries (task_id, id);
CREATE INDEX deliveries_failed ON deliveries (agent_id, id) WHERE state = 'failed';
CREATE INDEX deliveries_resent ON deliveries (redelivery_of, id) WHERE redelivery_of IS NOT NULL;
CREATE INDEX deliveries_due ON deliveries (agent_id, next_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_with_body ON deliveries (ended_at) WHERE ended_at IS NOT NULL AND body <> '';
CREATE INDEX deliveries_without_body ON deliveries (ended_at) WHERE ended_at IS NOT NULL AND body = '';
CREATE INDEX deliveries_open ON deliveries (task_id, agent_id, position, id) WHERE ended_at IS NULL;
CREATE TABLE attempts (
  delivery_id TEXT COLLATE "C" NOT NULL REFERENCES deliveries (id),
  attempt INTEGER NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  status INTEGER,
  reason TEXT COLLATE "C",
  message TEXT COLLATE "C" NOT NULL,
  answer TEXT COLLATE "C",
  location TEXT COLLATE "C",
  duration_ms INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);
CREATE TABLE notifications (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  type TEXT COLLATE "C" NOT NULL,
  agent_id TEXT COLLATE "C" REFERENCES agents (id),
  message TEXT COLLATE "C" NOT NULL,
  data TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  read_at BIGINT
);
CREATE INDEX notifications_by_user ON notifications (user_id, id);
CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_by_age ON notifications (created_at);
CREATE TABLE mails (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('password_reset', 'notification')),
  about TEXT COLLATE "C" NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX mails_due ON mails (next_at, id);
CREATE TABLE idempotency_keys (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  method TEXT COLLATE "C" NOT NULL,
  path TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  fingerprint TEXT COLLATE "C" NOT NULL,
  status INTEGER,
  answer TEXT COLLATE "C",
  running_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  kept_to BIGINT,
  PRIMARY KEY (user_id, method, path, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_in_order ON idempotency_keys (user_id, kept_to) WHERE kept_to IS NOT NULL;
CREATE TABLE idempotency_usage (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
CREATE  UNLOGGED  TABLE rate_windows (
  category TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  count INTEGER NOT NULL,
  ends_at BIGINT NOT NULL,
  PRIMARY KEY (category, address)
);
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
CREATE TABLE uploads (
  id TEXT COLLATE "C" PRIMARY KEY,
  begun_at BIGINT NOT NULL,
  doomed INTEGER NOT NULL DEFAULT 0 CHECK (doomed IN (0, 1))
);
CREATE INDEX uploads_by_age ON uploads (begun_at, id);
CREATE TABLE file_locations (
  instance TEXT COLLATE "C" PRIMARY KEY,
  location TEXT COLLATE "C" NOT NULL,
  holder TEXT COLLATE "C" NOT NULL,
  leased_until BIGINT NOT NULL
);
CREATE TABLE file_usage (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
CREATE INDEX file_usage_by_size ON file_usage (bytes, user_id);
CREATE TABLE text_usage (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
CREATE INDEX text_usage_by_size ON text_usage (bytes, user_id);
CREATE TABLE tallies (
  name TEXT COLLATE "C" NOT NULL,
  slot INTEGER NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (name, slot)
);
CREATE TABLE work_sums (
  whose TEXT COLLATE "C" NOT NULL,
  slot INTEGER NOT NULL,
  held BIGINT NOT NULL DEFAULT 0,
  in_dispute BIGINT NOT NULL DEFAULT 0,
  earned BIGINT NOT NULL DEFAULT 0,
  clearing BIGINT NOT NULL DEFAULT 0,
  done BIGINT NOT NULL DEFAULT 0,
  submitted BIGINT NOT NULL DEFAULT 0,
  completed BIGINT NOT NULL DEFAULT 0,
  cancelled BIGINT NOT NULL DEFAULT 0,
  disputed BIGINT NOT NULL DEFAULT 0,
  lost BIGINT NOT NULL DEFAULT 0,
  ratings BIGINT NOT NULL DEFAULT 0,
  stars BIGINT NOT NULL DEFAULT 0,
  spent BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (whose, slot)
);
CREATE TABLE settings (
  name TEXT COLLATE "C" PRIMARY KEY,
  value TEXT COLLATE "C" NOT NULL
);
CREATE TABLE purges (
  user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
  begun_by TEXT COLLATE "C" NOT NULL,
  begun_at BIGINT NOT NULL,
  ended_at BIGINT,
  stage INTEGER NOT NULL,
  after TEXT COLLATE "C" NOT NULL,
  rows_removed BIGINT NOT NULL,
  bytes_removed BIGINT NOT NULL,
  open_tasks INTEGER NOT NULL
);
CREATE TABLE jobs (
  name TEXT COLLATE "C" PRIMARY KEY,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0
);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (1, 'accounts', '8fa80fe920357da827d8d8b1a181d4a44f5edd17eb76b829ca06fdaf55616fd9', 1795791988338);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (2, 'sign-in', 'afa24127fb5a4128b154dcc9629da723a2e0893cae4d89fc62b4058f0594fd3a', 1795791988346);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (3, 'agents', '183388d6dfb0ef36763ed3212166feb5cab7eabbde5092dbbea0b651854ba3a4', 1795791988348);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (4, 'tasks', 'bf899e178f49b598c464c7f8954e3be8168e2d488ffb9f8a7d97fbff0d08b347', 1795791988364);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (5, 'budgets', '0ab3670d3b1bd5c54955710efd98ad6bc7a4c5cf73b10d500072bb9cde97a9c3', 1795791988375);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (6, 'ledger', 'b6f77dfa0ade4c3660f5df7ab34a95c1711a6240a6e2a64f087fff4dab04ca52', 1795791988376);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (7, 'outbox', 'cff1597ca0322a1c1d5a25c8e26ff11904798d3f9332fd025f064060ba04a765', 1795791988397);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (8, 'notifications', '3a05a22932ce8ba07c14c872b4fae5738ad45d783fdecd2ac013fa465c079d46', 1795791988398);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (9, 'requests', 'a9bcc39f35d33dfd3ece310ce53a7138fe2e47f182f13ff4632f554c2092765b', 1795791988399);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (10, 'files', '4601d86e101ccaea09ef2a76e8917cb76aefe4562a44a09961aa5664aabbfa73', 1795791988400);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (11, 'usage', '34554c5f81703609662c63be213ac7ebed56fe2054e8c4d368bfa8eab58428a3', 1795791988416);
INSERT INTO migrations (id, name, hash, applied_at) VALUES (12, 'upkeep', '87101f5f4cb1bde452f187e15df3e503db07b2c42443febb5677fbcc2992ff23', 1795791988417);
INSERT INTO users (id, email, name, password_hash, is_builder, is_admin, suspended, banned, identity_verified, chargebacks, connect_status, created_at) VALUES ('usr_019b76daa800784c94cf2803a68101c5', 'admin@example.com', 'Administrator', '$argon2id$v=19$m=19456,t=2,p=1$wGx6xlC/wUbsBODFzn1cRg$0gDQQCei6jsv//Qkjqy36EXIJkCctdz38n234kHcvsA', 1, 1, 0, 0, 0, 0, 'not_connected', 1767225600000);
INSERT INTO users (id, email, name, password_hash, is_builder, is_admin, suspended, banned, identity_verified, chargebacks, connect_status, created_at) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 'buyer@example.com', 'buyer', '$argon2id$v=19$m=19456,t=2,p=1$n8PMTalgy1OvLpwhbrQ3hA$/wkQ2FITb4M3RtHDFJszK7q07PGkG2guE+XkkUemSps', 1, 0, 0, 0, 1, 0, 'not_connected', 1767225600000);
INSERT INTO users (id, email, name, password_hash, is_builder, is_admin, suspended, banned, identity_verified, chargebacks, connect_status, created_at) VALUES ('usr_019b76daa800784c94cf280aa5e858ce', 'builder@example.com', 'builder', '$argon2id$v=19$m=19456,t=2,p=1$Z4076VEM5onRPIwncmhjCw$UIBUDhI57P12VV7sv69ZbjbXHq30WXamigB5WB0Mdms', 1, 0, 0, 0, 1, 0, 'not_connected', 1767225600000);
INSERT INTO sessions (token_hash, user_id, created_at, seen_at, id, address, user_agent) VALUES ('23a75f508383da4820bc6aa207f7106a575530bd78abf88febdf25220bad4552', 'usr_019b76daa800784c94cf2803a68101c5', 1767225600000, 1767225600000, 'ses_019b76daa800784c94cf2804a6ad5040', '127.0.0.1', NULL);
INSERT INTO sessions (token_hash, user_id, created_at, seen_at, id, address, user_agent) VALUES ('f3b779d56c94452433f33086fd3d857819272010fa7fadf841beed0cd8b046e9', 'usr_019b76daa800784c94cf28064b0b4ebd', 1767225600000, 1767225600000, 'ses_019b76daa800784c94cf28074b3a544c', '127.0.0.1', NULL);
INSERT INTO sessions (token_hash, user_id, created_at, seen_at, id, address, user_agent) VALUES ('8856df0d9476cb61561176a188eeab2f35ef19074fef97840daeb7aad322032c', 'usr_019b76daa800784c94cf280aa5e858ce', 1767225600000, 1767225600000, 'ses_019b76daa800784c94cf280ba5c2a5ca', '127.0.0.1', NULL);
INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, created_at) VALUES ('key_019b76daa800784c94cf2805a68a53d3', 'usr_019b76daa800784c94cf2803a68101c5', 'test', 'dc334e46718487d495326ea27251407729ac7ed4261d713493f50752b2ba331a', 'svc_7104e884', 1767225600000);
INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, created_at) VALUES ('key_019b76daa800784c94cf28084b355c50', 'usr_019b76daa800784c94cf28064b0b4ebd', 'test', '16e7b3f1024892f7c2dd4f6c6784c18d9928d42f7ada196cfed80e17f7cd967b', 'svc_b2fb6d21', 1767225600000);
INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, created_at) VALUES ('key_019b76daa800784c94cf280ca5fe532d', 'usr_019b76daa800784c94cf280aa5e858ce', 'test', 'bf5bf4af4db46926caa7092edb31ee68bfa7267b4bfe3964dbd4ad0b09ec733a', 'svc_8ccfc05e', 1767225600000);
INSERT INTO known_addresses (user_id, address, seen_at) VALUES ('usr_019b76daa800784c94cf2803a68101c5', '127.0.0.1', 1767225600000);
INSERT INTO known_addresses (user_id, address, seen_at) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', '127.0.0.1', 1767225600000);
INSERT INTO known_addresses (user_id, address, seen_at) VALUES ('usr_019b76daa800784c94cf280aa5e858ce', '127.0.0.1', 1767225600000);
INSERT INTO categories (id, name, slug, description) VALUES ('cat_writing', 'Writing', 'writing', 'Articles, copy, editing and proofreading');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_code', 'Code', 'code', 'Programming, review, debugging and tests');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_data', 'Data', 'data', 'Analysis, cleaning, extraction and charts');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_research', 'Research', 'research', 'Finding, comparing and summing up sources');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_design', 'Design', 'design', 'Graphics, interfaces and layout');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_translation', 'Translation', 'translation', 'From one language to another, and localisation');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_marketing', 'Marketing', 'marketing', 'Campaigns, search and social media');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_support', 'Support', 'support', 'Answering customers and sorting requests');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_media', 'Audio and video', 'audio-video', 'Transcription, editing and narration');
INSERT INTO categories (id, name, slug, description) VALUES ('cat_automation', 'Automation', 'automation', 'Workflows, integrations and operations');
INSERT INTO agents (id, slug, builder_id, name, tagline, description, pricing_model, base_price, turnaround_hours, max_revisions, tags, avatar_url, webhook_url, secret, secret_rotated_at, old_secret, old_secret_until, status, review_reason, completed_tasks, rating_sum, rating_count, rated1, rated2, rated3, rated4, rated5, last_pass_at, failed_at, tested_at, deactivated_at, deleted_at, created_at, updated_at) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 'test-writer', 'usr_019b76daa800784c94cf280aa5e858ce', 'Test Writer', 'Writes what a test asks for', 'An agent in the same process, which records its webhooks and does what the test tells it to do.', 'fixed', 500, 24, NULL, '[]', NULL, 'https://localhost/agents/1', 'df8d744f.I8o-f_YN13tHp8DQ.sAaiGKvS8bNM7jFPDP4sKg.X5KSEFyvFS0psvDHfeu-glN3oZI5JwkHHZleFmEh7GDjUYbr1F5Rw9_i_1MGmH0LvOE', 1767225600000, NULL, NULL, 'verified', NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1767225600000, NULL, 1767225600000, NULL, NULL, 1767225600000, 1767225600000);
INSERT INTO agent_categories (agent_id, category_id, position) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 'cat_writing', 0);
INSERT INTO agent_terms (term, agent_id) VALUES ('test', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('writer', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('an', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('agent', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('in', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('the', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('same', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('process', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('which', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('records', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('its', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('webhooks', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('and', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('does', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('what', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('tells', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('it', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('to', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('do', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('t', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('te', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('tes', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('w', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('wr', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('wri', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('a', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('ag', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('age', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('i', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('th', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('s', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('sa', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('sam', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('p', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('pr', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('pro', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('wh', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('whi', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('r', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('re', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('rec', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('we', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('web', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('d', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('doe', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('wha', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_terms (term, agent_id) VALUES ('tel', 'agt_019b76daa800784c94cf280da5e16e83');
INSERT INTO agent_tests (id, agent_id, started_at, callback, result, ended) VALUES ('test_043c748ac640ed8f811fa5943703b1bc', 'agt_019b76daa800784c94cf280da5e16e83', 1767225600000, '{"isSigned":true,"fault":null,"finding":null}', '{"testedAt":1767225600000,"url":"https://localhost/agents/1","finding":null}', 1);
INSERT INTO agent_reports (agent_id, kind, tested_at, report) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 'test', 1767225600000, '{"passed":true,"status":"passed","testedAt":"2026-01-01T00:00:00.000Z","checks":[{"check":1,"name":"webhook_url","status":"passed","message":"A webhook URL is saved","durationMs":0},{"check":2,"name":"https","status":"passed","message":"The webhook URL starts with https://","durationMs":0},{"check":3,"name":"webhook_secret","status":"passed","message":"A webhook secret exists","durationMs":0},{"check":4,"name":"endpoint","status":"passed","message":"The endpoint answered 200","durationMs":0},{"check":5,"name":"callback","status":"passed","message":"A validly signed callback arrived","durationMs":0}],"diagnosis":null}');
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf28114b157a03', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is draft', 1000, 'draft', 0, NULL, 0, 1767225600000, NULL, NULL, NULL, NULL, NULL, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf28124b375f5f', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is pending', 1000, 'pending', 0, NULL, 0, 1767225600000, 1767225600000, NULL, NULL, NULL, NULL, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf28154b2efd0a', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is in_progress', 1000, 'in_progress', 0, NULL, 0, 1767225600000, 1767225600000, 1767225600000, NULL, NULL, NULL, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf28184b0830c6', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is delivered', 1000, 'delivered', 0, NULL, 0, 1767225600000, 1767225600000, 1767225600000, 1767225600000, NULL, NULL, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf281c4b3f7969', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is completed', 1000, 'completed', 0, NULL, 0, 1767225600000, 1767225600000, 1767225600000, 1767225600000, 1767225600000, NULL, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf28224b3e0283', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is cancelled', 1000, 'cancelled', 0, NULL, 0, 1767225600000, 1767225600000, NULL, NULL, NULL, 1767225600000, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO tasks (id, agent_id, buyer_id, builder_id, buyer_agent_id, budget_authorization_id, title, agreed_price, status, revision_count, max_revisions, disputed, created_at, submitted_at, accepted_at, delivered_at, completed_at, cancelled_at, updated_at, hirer_id, description, requirements) VALUES ('task_019b76daa800784c94cf28274b19efa7', 'agt_019b76daa800784c94cf280da5e16e83', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', NULL, NULL, 'A task that is disputed', 1000, 'delivered', 0, NULL, 1, 1767225600000, 1767225600000, 1767225600000, 1767225600000, NULL, NULL, 1767225600000, NULL, 'Something that a test would like to have done.', NULL);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28124b375f5f', 0, 'submit', 'draft', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-j', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28154b2efd0a', 0, 'submit', 'draft', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-l', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28154b2efd0a', 1, 'accept', 'pending', 'in_progress', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-m', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28184b0830c6', 0, 'submit', 'draft', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-o', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28184b0830c6', 1, 'accept', 'pending', 'in_progress', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-p', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28184b0830c6', 2, 'deliver', 'in_progress', 'delivered', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-q', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf281c4b3f7969', 0, 'submit', 'draft', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-s', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf281c4b3f7969', 1, 'accept', 'pending', 'in_progress', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-t', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf281c4b3f7969', 2, 'deliver', 'in_progress', 'delivered', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-u', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf281c4b3f7969', 3, 'approve', 'delivered', 'completed', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-v', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28224b3e0283', 0, 'submit', 'draft', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-x', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28224b3e0283', 1, 'cancel', 'pending', 'cancelled', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-y', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28274b19efa7', 0, 'submit', 'draft', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-10', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28274b19efa7', 1, 'accept', 'pending', 'in_progress', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-11', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28274b19efa7', 2, 'deliver', 'in_progress', 'delivered', 'builder', 'usr_019b76daa800784c94cf280aa5e858ce', 'signature', 'c6a06791b03b-12', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28274b19efa7', 3, 'dispute', 'delivered', 'delivered', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-13', 1767225600000, 1767225600000);
INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, request_id, at, real_at) VALUES ('task_019b76daa800784c94cf28124b375f5f', 1, 'message', 'pending', 'pending', 'buyer', 'usr_019b76daa800784c94cf28064b0b4ebd', 'session', 'c6a06791b03b-14', 1767225600000, 1767225600000);
INSERT INTO deliverables (id, task_id, content, notes, created_at, files, position) VALUES ('dlb_019b76daa800784c94cf281b4b2843ee', 'task_019b76daa800784c94cf28184b0830c6', 'What was asked for, ’with signs’; and "more"
— as text.', NULL, 1767225600000, NULL, 0);
INSERT INTO deliverables (id, task_id, content, notes, created_at, files, position) VALUES ('dlb_019b76daa800784c94cf281f4b1bb348', 'task_019b76daa800784c94cf281c4b3f7969', 'What was asked for, ’with signs’; and "more"
— as text.', NULL, 1767225600000, NULL, 0);
INSERT INTO deliverables (id, task_id, content, notes, created_at, files, position) VALUES ('dlb_019b76daa800784c94cf282a4b360034', 'task_019b76daa800784c94cf28274b19efa7', 'What was asked for, ’with signs’; and "more"
— as text.', NULL, 1767225600000, NULL, 0);
INSERT INTO disputes (task_id, status, reason, opened_at, opened_from, opened_by, resolved_at, outcome, refund_amount, outcome_reason) VALUES ('task_019b76daa800784c94cf28274b19efa7', 'open', 'It is not what I have asked for, I think.', 1767225600000, 'delivered', 'usr_019b76daa800784c94cf28064b0b4ebd', NULL, NULL, NULL, NULL);
INSERT INTO messages (id, task_id, sender_id, sender_role, content, created_at) VALUES ('msg_019b76daa800784c94cf282d4b25fc92', 'task_019b76daa800784c94cf28124b375f5f', 'usr_019b76daa800784c94cf28064b0b4ebd', 'buyer', 'Are you there?', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('17664aac92a87f3ca29b33b7cbc2076007e8b8e2ad1381f1ba80973e85e87f55', 'test_043c748ac640ed8f811fa5943703b1bc', 200, '{"test":true}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('d687472e3046b101f1b94fcefe786228eb3688341ec1ad94a7d5e64747be5c04', 'task_019b76daa800784c94cf28154b2efd0a', 200, '{"task":{"id":"task_019b76daa800784c94cf28154b2efd0a","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"in_progress","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":null,"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":null,"completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('177cc9d19feb1064a87ca966eacccd79cd97f44d067a663355b5da8aa669e72a', 'task_019b76daa800784c94cf28184b0830c6', 200, '{"task":{"id":"task_019b76daa800784c94cf28184b0830c6","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"in_progress","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":null,"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":null,"completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('d5b0b29bbc446ed6ddfb7db940eade552b9ac2a94884186246f57e32f5170ae9', 'task_019b76daa800784c94cf28184b0830c6', 200, '{"task":{"id":"task_019b76daa800784c94cf28184b0830c6","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"delivered","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":{"id":"dlb_019b76daa800784c94cf281b4b2843ee"},"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":"2026-01-01T00:00:00.000Z","completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('3446a4c4382120b18bf2451565f2e4a1256ad2bbbedccd872cf203ada4296cb4', 'task_019b76daa800784c94cf281c4b3f7969', 200, '{"task":{"id":"task_019b76daa800784c94cf281c4b3f7969","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"in_progress","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":null,"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":null,"completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('3f546a7bd6fba26f3f15855a012a4cdb37f3fcf7aec284a48410c0b8eda3ccfa', 'task_019b76daa800784c94cf281c4b3f7969', 200, '{"task":{"id":"task_019b76daa800784c94cf281c4b3f7969","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"delivered","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":{"id":"dlb_019b76daa800784c94cf281f4b1bb348"},"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":"2026-01-01T00:00:00.000Z","completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('42f6fd056c32a972feccdf5ae9516c0ec96ad214393d29b13f26bee473cf7296', 'task_019b76daa800784c94cf28274b19efa7', 200, '{"task":{"id":"task_019b76daa800784c94cf28274b19efa7","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"in_progress","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":null,"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":null,"completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO seen_signatures (signature, task_id, status, answer, seen_at) VALUES ('04d419b1c332fb7d981f03607fd48ed8ec8e0f88b4989c7f156c55eea5b6cf85', 'task_019b76daa800784c94cf28274b19efa7', 200, '{"task":{"id":"task_019b76daa800784c94cf28274b19efa7","title":"","description":"","requirements":null,"agreedPrice":1000,"status":"delivered","agentId":"agt_019b76daa800784c94cf280da5e16e83","agent":{"id":"agt_019b76daa800784c94cf280da5e16e83","slug":"test-writer","name":"Test Writer"},"buyerId":"usr_019b76daa800784c94cf28064b0b4ebd","builderId":"usr_019b76daa800784c94cf280aa5e858ce","buyerAgentId":null,"budgetAuthorizationId":null,"revisionCount":0,"maxRevisions":null,"deliverable":{"id":"dlb_019b76daa800784c94cf282a4b360034"},"dispute":null,"createdAt":"2026-01-01T00:00:00.000Z","submittedAt":"2026-01-01T00:00:00.000Z","acceptedAt":"2026-01-01T00:00:00.000Z","deliveredAt":"2026-01-01T00:00:00.000Z","completedAt":null,"cancelledAt":null,"updatedAt":"2026-01-01T00:00:00.000Z"}}', 1767225600000);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('world', NULL, 'world', -50000);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('payouts', NULL, 'payouts', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('platform', NULL, 'platform', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('available:usr_019b76daa800784c94cf2803a68101c5', 'usr_019b76daa800784c94cf2803a68101c5', 'available', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('held:usr_019b76daa800784c94cf2803a68101c5', 'usr_019b76daa800784c94cf2803a68101c5', 'held', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('clearing:usr_019b76daa800784c94cf2803a68101c5', 'usr_019b76daa800784c94cf2803a68101c5', 'clearing', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('available:usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 'available', 45000);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('held:usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 'held', 4000);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('clearing:usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 'clearing', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('available:usr_019b76daa800784c94cf280aa5e858ce', 'usr_019b76daa800784c94cf280aa5e858ce', 'available', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('held:usr_019b76daa800784c94cf280aa5e858ce', 'usr_019b76daa800784c94cf280aa5e858ce', 'held', 0);
INSERT INTO accounts (id, user_id, kind, balance) VALUES ('clearing:usr_019b76daa800784c94cf280aa5e858ce', 'usr_019b76daa800784c94cf280aa5e858ce', 'clearing', 1000);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28094b04cf92', 'deposit', NULL, 'usr_019b76daa800784c94cf28064b0b4ebd', 50000, NULL, 'completed', 'Deposit', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28144b0ad530', 'hold', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf28124b375f5f', 'completed', 'Held for “A task that is pending”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28174b04046b', 'hold', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf28154b2efd0a', 'completed', 'Held for “A task that is in_progress”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf281a4b39a66b', 'hold', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf28184b0830c6', 'completed', 'Held for “A task that is delivered”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf281e4b2188c0', 'hold', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf281c4b3f7969', 'completed', 'Held for “A task that is completed”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28214b3d35e6', 'release', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf280aa5e858ce', 1000, 'task_019b76daa800784c94cf281c4b3f7969', 'clearing', 'Payment for “A task that is completed”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28244b23977e', 'hold', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf28224b3e0283', 'completed', 'Held for “A task that is cancelled”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28264b13d385', 'refund', NULL, 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf28224b3e0283', 'completed', 'Refund for “A task that is cancelled”', 1767225600000, NULL, NULL);
INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at, decided_at, reason) VALUES ('trf_019b76daa800784c94cf28294b0954f3', 'hold', 'usr_019b76daa800784c94cf28064b0b4ebd', 'usr_019b76daa800784c94cf28064b0b4ebd', 1000, 'task_019b76daa800784c94cf28274b19efa7', 'completed', 'Held for “A task that is disputed”', 1767225600000, NULL, NULL);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28094b04cf92', 'deposit', 'world', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 50000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28144b0ad530', 'hold', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28174b04046b', 'hold', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf281a4b39a66b', 'hold', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf281e4b2188c0', 'hold', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28214b3d35e6', 'release', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 'clearing:usr_019b76daa800784c94cf280aa5e858ce', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28244b23977e', 'hold', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28264b13d385', 'refund', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at) VALUES ('trf_019b76daa800784c94cf28294b0954f3', 'hold', 'available:usr_019b76daa800784c94cf28064b0b4ebd', 'held:usr_019b76daa800784c94cf28064b0b4ebd', 1000, 1767225600000);
INSERT INTO settlements (task_id, builder_id, released, refunded, status, reversed, clears_at, created_at) VALUES ('task_019b76daa800784c94cf281c4b3f7969', 'usr_019b76daa800784c94cf280aa5e858ce', 1000, 0, 'clearing', 0, 1767398400000, 1767225600000);
INSERT INTO settlements (task_id, builder_id, released, refunded, status, reversed, clears_at, created_at) VALUES ('task_019b76daa800784c94cf28224b3e0283', 'usr_019b76daa800784c94cf280aa5e858ce', 0, 1000, 'final', 0, NULL, 1767225600000);
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28134b0b5122', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28124b375f5f', 'task.submitted', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28124b375f5f","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is pending","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28124b375f5f/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28164b0a364b', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28154b2efd0a', 'task.submitted', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28154b2efd0a","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is in_progress","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28154b2efd0a/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28194b267b93', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28184b0830c6', 'task.submitted', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28184b0830c6","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is delivered","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28184b0830c6/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf281d4b1c409c', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf281c4b3f7969', 'task.submitted', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf281c4b3f7969","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is completed","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf281c4b3f7969/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28204b31c4d1', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf281c4b3f7969', 'task.approved', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, NULL, '{"event":"task.approved","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf281c4b3f7969","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is completed","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"completed","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf281c4b3f7969/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28234b11a07d', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28224b3e0283', 'task.submitted', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28224b3e0283","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is cancelled","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28224b3e0283/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28254b1e02e0', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28224b3e0283', 'task.cancelled', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, NULL, '{"event":"task.cancelled","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28224b3e0283","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is cancelled","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"cancelled","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28224b3e0283/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf28284b31bc89', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28274b19efa7', 'task.submitted', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28274b19efa7","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is disputed","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28274b19efa7/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"}}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf282c4b025bdd', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28274b19efa7', 'task.disputed', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, NULL, '{"event":"task.disputed","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28274b19efa7","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is disputed","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"delivered","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28274b19efa7/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"},"disputeReason":"It is not what I have asked for, I think."}}');
INSERT INTO deliveries (id, agent_id, task_id, event, state, attempts, next_at, leased_until, sender, created_at, ended_at, redelivery_of, position, counted_to, body) VALUES ('dlv_019b76daa800784c94cf282e4b38caeb', 'agt_019b76daa800784c94cf280da5e16e83', 'task_019b76daa800784c94cf28124b375f5f', 'task.message', 'delivered', 1, 1767225600000, 0, NULL, 1767225600000, 1767225600000, NULL, 0, 'usr_019b76daa800784c94cf28064b0b4ebd', '{"event":"task.message","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_019b76daa800784c94cf28124b375f5f","agentId":"agt_019b76daa800784c94cf280da5e16e83","title":"A task that is pending","description":"Something that a test would like to have done.","requirements":"","agreedPrice":1000,"status":"pending","callbackUrl":"http://127.0.0.1:46081/api/agent/tasks/task_019b76daa800784c94cf28124b375f5f/callback","requestor":{"id":"usr_019b76daa800784c94cf28064b0b4ebd","type":"user","trustTier":"new_verified"},"message":"Are you there?"}}');
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28134b0b5122', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28164b0a364b', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28194b267b93', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf281d4b1c409c', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28204b31c4d1', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28234b11a07d', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28254b1e02e0', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf28284b31bc89', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf282c4b025bdd', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, location, duration_ms, created_at) VALUES ('dlv_019b76daa800784c94cf282e4b38caeb', 1, 'https://localhost/agents/1', 200, NULL, 'The agent answered 200', '', NULL, 0, 1767225600000);
INSERT INTO notifications (id, user_id, type, agent_id, message, data, created_at, read_at) VALUES ('ntf_019b76daa800784c94cf280fa5f807bd', 'usr_019b76daa800784c94cf280aa5e858ce', 'agent_reviewed', 'agt_019b76daa800784c94cf280da5e16e83', 'The agent “Test Writer” was approved: it is listed while its connection test passes', '{"decision":"approved","reason":null}', 1767225600000, NULL);
INSERT INTO notifications (id, user_id, type, agent_id, message, data, created_at, read_at) VALUES ('ntf_019b76daa800784c94cf282ba5d9d73e', 'usr_019b76daa800784c94cf280aa5e858ce', 'dispute_opened', 'agt_019b76daa800784c94cf280da5e16e83', 'The buyer disputes the task “A task that is disputed”', '{"taskId":"task_019b76daa800784c94cf28274b19efa7","reason":"It is not what I have asked for, I think."}', 1767225600000, NULL);
INSERT INTO mails (id, kind, about, attempts, next_at, created_at) VALUES ('mail_019b76daa800784c94cf2810a5ca612d', 'notification', 'ntf_019b76daa800784c94cf280fa5f807bd', 0, 1767225600000, 1767225600000);
INSERT INTO text_usage (user_id, bytes) VALUES ('usr_019b76daa800784c94cf280aa5e858ce', 2449);
INSERT INTO text_usage (user_id, bytes) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 82090);
INSERT INTO tallies (name, slot, count) VALUES ('users', 5, 2);
INSERT INTO tallies (name, slot, count) VALUES ('users', 4, 1);
INSERT INTO tallies (name, slot, count) VALUES ('deposit completed', 2, 1);
INSERT INTO tallies (name, slot, count) VALUES ('agents', 3, 1);
INSERT INTO tallies (name, slot, count) VALUES ('tasks', 3, 2);
INSERT INTO tallies (name, slot, count) VALUES ('tasks', 6, 2);
INSERT INTO tallies (name, slot, count) VALUES ('tasks', 1, 1);
INSERT INTO tallies (name, slot, count) VALUES ('tasks', 9, 1);
INSERT INTO tallies (name, slot, count) VALUES ('tasks', 7, 1);
INSERT INTO tallies (name, slot, count) VALUES ('disputed tasks', 7, 1);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 6, 2000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 6, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 1, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 9, 0, 0, 1000, 1000, 1, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 9, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 3, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('agt_019b76daa800784c94cf280da5e16e83', 7, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO work_sums (whose, slot, held, in_dispute, earned, clearing, done, submitted, completed, cancelled, disputed, lost, ratings, stars, spent) VALUES ('usr_019b76daa800784c94cf28064b0b4ebd', 7, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0);
INSERT INTO settings (name, value) VALUES ('secret_key_check', 'df8d744f.UoYNsSt-9yPO2s8f.58gkJHrgJfDSCb52AbwCOw.k3Lqra5Nrce0JqZ5IWe86A');
INSERT INTO settings (name, value) VALUES ('instance_id', 'bc5f9f93-4afd-4354-80aa-e6f9ebfc4448');
INSERT INTO jobs (name, next_at, leased_until, retries) VALUES ('heartbeat', 1767240000000, 0, 0);
