/** Letters that wait to be sent, by what they are about: no text and no secret is kept. Tokens that reset a password. */
export const mails = `
CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('password_reset', 'notification')),
  about TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX mails_due ON mails (next_at, id);
CREATE TABLE password_resets (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL
);
CREATE INDEX password_resets_by_user ON password_resets (user_id, created_at);
`
