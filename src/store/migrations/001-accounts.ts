/** Accounts, and what they sign in and act with. */
export const accounts = `
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
-- The few accounts whose agents are hidden. Each row of a list looks its builder up here.
CREATE INDEX users_stopped ON users (id) WHERE suspended = 1 OR banned = 1;

-- Administrators look accounts up by how a name begins.
CREATE INDEX users_by_name ON users (LOWER(name), id);

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  id TEXT NOT NULL DEFAULT '',
  address TEXT,
  user_agent TEXT
);
-- The list of an account's sessions, and their end.
CREATE INDEX sessions_by_user ON sessions (user_id);
-- Retention finds sessions that were not seen for long.
CREATE INDEX sessions_by_use ON sessions (seen_at);
-- Sessions are ended by id, because the token is a secret.
CREATE UNIQUE INDEX sessions_by_id ON sessions (id);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE,
  key_prefix TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
-- The list of an account's keys, in its order.
CREATE INDEX api_keys_by_user ON api_keys (user_id, id);

-- A table of its own, because keys are cached in memory until their table changes.
CREATE TABLE api_key_uses (
  key_id TEXT PRIMARY KEY,
  last_used_at BIGINT NOT NULL
);
`
