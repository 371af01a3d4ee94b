/** Where each living instance keeps uploaded files, under a lease. Real time. */
export const filePlaces = `
CREATE TABLE file_places (
  instance TEXT PRIMARY KEY,
  place TEXT NOT NULL,
  holder TEXT NOT NULL,
  leased_until BIGINT NOT NULL
);
`
