/**
 * Guesses at passwords and codes, counted where several processes share an account's delays: a crash may forget them.
 * The addresses that an account has signed in from.
 */
export const guesses = `
CREATE /*+ UNLOGGED */ TABLE guesses (
  subject TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  next_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
CREATE INDEX guesses_by_end ON guesses (ends_at);
CREATE TABLE known_addresses (
  user_id TEXT NOT NULL REFERENCES users (id),
  address TEXT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, address)
);
`
