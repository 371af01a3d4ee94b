/** Which delivery another one repeats. */
export const redeliveries = `
ALTER TABLE deliveries ADD COLUMN redelivery_of TEXT;
`
