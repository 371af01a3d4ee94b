/** Webhook deliveries and their attempts, and the instances that send them. */
export const outbox = `
-- A row for each instance that runs. Only intervals between its beats matter, so no two clocks are compared.
CREATE TABLE senders (
  id TEXT PRIMARY KEY,
  beats BIGINT NOT NULL
);

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  task_id TEXT NOT NULL,
  event TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL DEFAULT 0,
  -- No reference: the claim has to outlive the row of its sender, and is free then.
  sender TEXT,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  redelivery_of TEXT,
  position INTEGER NOT NULL DEFAULT 0,
  counted_to TEXT,
  -- Long, so what is searched for stands before it.
  body TEXT NOT NULL
);
-- The log of an agent, in its order.
CREATE INDEX deliveries_by_agent ON deliveries (agent_id, id);
-- What was sent about a task, in its order.
CREATE INDEX deliveries_by_task ON deliveries (task_id, id);
-- The log of those that were given up. It leaves out all others, so that what goes well writes nothing here.
CREATE INDEX deliveries_failed ON deliveries (agent_id, id) WHERE state = 'failed';
-- What has sent a delivery again.
CREATE INDEX deliveries_resent ON deliveries (redelivery_of, id) WHERE redelivery_of IS NOT NULL;
-- The deliveries to send next, in the order in which they are claimed. It leaves out those that have ended.
CREATE INDEX deliveries_due ON deliveries (agent_id, next_at, id) WHERE state = 'pending';
-- Retention first removes the body of a delivery that ended long ago, and later its row.
CREATE INDEX deliveries_with_body ON deliveries (ended_at) WHERE ended_at IS NOT NULL AND body <> '';
CREATE INDEX deliveries_without_body ON deliveries (ended_at) WHERE ended_at IS NOT NULL AND body = '';
-- The queue of a task to one agent. Both ends are found without reading what is between them.
CREATE INDEX deliveries_open ON deliveries (task_id, agent_id, position, id) WHERE ended_at IS NULL;

CREATE TABLE attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id),
  attempt INTEGER NOT NULL,
  url TEXT NOT NULL,
  status INTEGER,
  reason TEXT,
  message TEXT NOT NULL,
  answer TEXT,
  location TEXT,
  duration_ms INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);
`
