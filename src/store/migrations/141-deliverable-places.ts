/** Which deliverable of a task came when. Ids tell the time of the instance that wrote them, and clocks are set back. */
export const deliverablePlaces = `
ALTER TABLE deliverables ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
UPDATE deliverables SET place = (
  SELECT COUNT(*) FROM deliverables e WHERE e.task_id = deliverables.task_id AND e.id < deliverables.id);
DROP INDEX deliverables_by_task;
CREATE UNIQUE INDEX deliverables_in_order ON deliverables (task_id, place);
`
