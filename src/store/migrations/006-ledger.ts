/** Double entry: accounts, transfers, their entries, and how each task's hold was settled. */
export const ledger = `
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
-- These indexes contain only the rows that are looked up in them, so that a transfer writes to few of them.
-- The payment of a task, when its clearing ends or it is reversed.
CREATE INDEX releases_by_task ON transfers (task_id) WHERE kind = 'release';
-- The administrators' list of one status; the list of all uses payments_in_order.
CREATE INDEX payments ON transfers (kind, status, id) WHERE kind IN ('deposit', 'withdrawal');
-- The statement of a wallet is merged from one range for each kind.
CREATE INDEX transfers_by_payer ON transfers (payer_id, kind, id) WHERE payer_id IS NOT NULL;
-- What is received. A list of three kinds would cost each transfer 2.8 µs: SQLite makes a table of it on every write.
CREATE INDEX transfers_by_payee ON transfers (payee_id, kind, id) WHERE kind <> 'hold' AND kind <> 'withdrawal';
CREATE INDEX payments_in_order ON transfers (kind, id) WHERE kind IN ('deposit', 'withdrawal');

CREATE TABLE entries (
  transfer_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  amount BIGINT NOT NULL CHECK (amount <> 0),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (transfer_id, account_id)
);

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
-- The payments that clear next.
CREATE INDEX settlements_due ON settlements (status, clears_at);
-- A builder's earnings.
CREATE INDEX settlements_by_builder ON settlements (builder_id, task_id);

INSERT INTO accounts (id, user_id, kind) VALUES
  ('world', NULL, 'world'), ('payouts', NULL, 'payouts'), ('platform', NULL, 'platform');
`
