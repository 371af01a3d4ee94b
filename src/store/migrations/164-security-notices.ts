/** What a letter tells an account of a change of what guards it; gone with the letter. */
export const securityNotices = `
CREATE TABLE security_notices (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  detail TEXT,
  address TEXT,
  created_at BIGINT NOT NULL
);
`
