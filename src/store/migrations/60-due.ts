/** An agent's due deliveries stand in the order in which they are taken; nothing reads entries by their account. */
export const due = `
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (state, agent_id, next_at, id);
DROP INDEX entries_by_account;
`
