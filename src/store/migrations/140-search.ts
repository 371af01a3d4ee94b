/** Words that agents are found by have another form, and only listed agents have any: a start writes them anew. */
export const search = `
DELETE FROM agent_terms;
INSERT INTO settings (name, value) SELECT 'search_index', 'outdated' WHERE EXISTS (SELECT 1 FROM agents);
`
