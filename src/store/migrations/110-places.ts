/** Where an event stands in the queue of its task. Ids tell the time of the instance that wrote them, and clocks differ. */
export const places = `
ALTER TABLE deliveries ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
`
