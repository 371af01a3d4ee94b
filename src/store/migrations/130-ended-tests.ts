/** The last test of each agent stays when it is over, so that a callback which comes late can be told what it is. */
export const endedTests = `
ALTER TABLE agent_tests ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
`
