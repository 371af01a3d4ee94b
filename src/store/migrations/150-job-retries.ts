/** How often in a row a job was taken up again, as what it had to do could not be done for a reason of our own. */
export const jobRetries = `
ALTER TABLE jobs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
`
