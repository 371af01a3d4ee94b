/** Accounts, sessions, keys, settings. */
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
