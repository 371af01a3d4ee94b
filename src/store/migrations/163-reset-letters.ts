/** Which letter a token went out with: each attempt to send one makes a token, and letters are counted. */
export const resetLetters = `
ALTER TABLE password_resets ADD COLUMN mail_id TEXT NOT NULL DEFAULT '';
`
