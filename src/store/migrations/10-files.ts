/** The files of a deliverable: JSON, as they never change apart from it. */
export const files = `
ALTER TABLE deliverables ADD COLUMN files TEXT;
`
