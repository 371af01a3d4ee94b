/** Double entry: accounts, transfers, their entries, and how each task's hold was settled. Source. */
export const ledger = `
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  user_id TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('available', 'held', 'clearing', 'world', 'payouts', 'platform')),
  balance BIGINT NOT NULL DEFAULT 0,
  CHECK (kind = 'world' OR balance >= 0),
  CHECK (id = kind || COALESCE(':' || user_id, '')),
  CHECK ((user_id IS NULL) = (kind = 'world' OR kind = 'payouts' OR kind = 'platform'))
);

CREATE TABLE transfers (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  payer_id TEXT,
  payee_id TEXT,
  amount BIGINT NOT NULL CHECK (amount > 0),
  task_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'clearing', 'completed', 'rejected', 'reversed')),
  description TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  decided_at BIGINT,
  reason TEXT,
  -- Between whom, and in which states. What is compared is compared with IS NOT NULL too: a CHECK takes what is unknown.
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
-- These indexes contain only the rows that are looked up in them, so that a transfer writes to few of them.
-- The money of a task.
CREATE INDEX transfers_by_task ON transfers (task_id) WHERE task_id IS NOT NULL;
-- The administrators' list of one status; the list of all uses payments_in_order.
CREATE INDEX payments ON transfers (kind, status, id /*+ , created_at */) WHERE kind IN ('deposit', 'withdrawal');
-- The statement of a wallet is merged from one range for each kind.
CREATE INDEX transfers_by_payer ON transfers (payer_id, kind, id) WHERE payer_id IS NOT NULL;
-- What is received. A list of three kinds would cost each transfer 2.8 µs: SQLite makes a table of it on every write.
CREATE INDEX transfers_by_payee ON transfers (payee_id, kind, id) WHERE kind <> 'hold' AND kind <> 'withdrawal';
-- What was deposited today.
CREATE INDEX deposits_by_time ON transfers (payee_id, created_at) WHERE kind = 'deposit';
CREATE INDEX payments_in_order ON transfers (kind, id) WHERE kind IN ('deposit', 'withdrawal');

-- One row is a debit and its credit, so no entry can be without the other.
CREATE TABLE entries (
  leg_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  debited_id TEXT NOT NULL REFERENCES accounts (id),
  credited_id TEXT NOT NULL REFERENCES accounts (id),
  amount BIGINT NOT NULL CHECK (amount > 0),
  created_at BIGINT NOT NULL,
  -- From where to where each kind of entry may move money. None touches platform: there is no fee.
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
