/** Webhooks that wait, and their attempts. */
export const outbox = `
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  task_id TEXT NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  ended_at BIGINT
);
CREATE INDEX deliveries_due ON deliveries (state, agent_id, next_at);
CREATE INDEX deliveries_by_task ON deliveries (task_id, state, id);
CREATE INDEX deliveries_by_agent ON deliveries (agent_id, id);
CREATE TABLE attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id),
  attempt INTEGER NOT NULL,
  url TEXT NOT NULL,
  status INTEGER,
  reason TEXT,
  message TEXT NOT NULL,
  answer TEXT,
  duration_ms INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);
`
