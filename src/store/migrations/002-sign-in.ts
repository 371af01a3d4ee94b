/** The security of accounts: second factors, guesses at passwords, password resets, notices to owners. */
export const signIn = `
CREATE TABLE second_factors (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  secret TEXT NOT NULL,
  last_step BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  enabled_at BIGINT
);

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id),
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

-- Used if several processes share a database. Unlogged, because a crash may forget guesses.
CREATE /*+ UNLOGGED */ TABLE guesses (
  subject TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  next_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
-- Retention finds rows that are over.
CREATE INDEX guesses_by_end ON guesses (ends_at);

CREATE TABLE known_addresses (
  user_id TEXT NOT NULL REFERENCES users (id),
  address TEXT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, address)
);

CREATE TABLE password_resets (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  mail_id TEXT NOT NULL DEFAULT ''
);
-- The mails to an account are counted, and all its tokens end together.
CREATE INDEX password_resets_by_user ON password_resets (user_id, created_at);
-- Retention finds old rows.
CREATE INDEX password_resets_by_age ON password_resets (created_at);

-- A row is removed with its mail.
CREATE TABLE security_notices (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  detail TEXT,
  address TEXT,
  created_at BIGINT NOT NULL
);
`
