/** What an account is told of its sessions. Those that were there get the id that follows from their hash. */
export const sessions = `
ALTER TABLE sessions ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN user_agent TEXT;
UPDATE sessions SET id = 'ses_' || substr(token_hash, 1, 32);
CREATE UNIQUE INDEX sessions_by_id ON sessions (id);
`
