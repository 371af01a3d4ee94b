/**
 * Tasks and what belongs to them. On Postgres an index also contains the columns by which its list is counted, because reading
 * them from the rows would read a page for almost every row.
 */
export const tasks = `
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  buyer_id TEXT NOT NULL REFERENCES users (id),
  builder_id TEXT NOT NULL REFERENCES users (id),
  buyer_agent_id TEXT,
  budget_authorization_id TEXT,
  title TEXT NOT NULL,
  agreed_price BIGINT NOT NULL CHECK (agreed_price >= 200),
  status TEXT NOT NULL
    CHECK (status IN ('draft', 'pending', 'in_progress', 'delivered', 'completed', 'cancelled')),
  revision_count INTEGER NOT NULL DEFAULT 0,
  max_revisions INTEGER,
  disputed INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  submitted_at BIGINT,
  accepted_at BIGINT,
  delivered_at BIGINT,
  completed_at BIGINT,
  cancelled_at BIGINT,
  updated_at BIGINT NOT NULL,
  hirer_id TEXT,
  -- Long, so what is searched for stands before them.
  description TEXT NOT NULL,
  requirements TEXT
);
-- The administrators' list of one agent.
CREATE INDEX tasks_by_agent ON tasks (agent_id, id);
-- The tasks that an agent has bought. It leaves out all other tasks, so that a submit writes one index less.
CREATE INDEX tasks_by_buyer_agent ON tasks (buyer_agent_id, id) WHERE buyer_agent_id IS NOT NULL;
-- What a builder may read of those who have hired from them.
CREATE INDEX tasks_by_buyer_builder ON tasks (buyer_id, builder_id, id, agent_id) WHERE submitted_at IS NOT NULL;
CREATE INDEX tasks_by_buyer_agent_builder ON tasks (buyer_agent_id, builder_id, id, agent_id)
  WHERE buyer_agent_id IS NOT NULL AND submitted_at IS NOT NULL;
-- Those that keep an authorization from being deleted.
CREATE INDEX tasks_by_authorization ON tasks (budget_authorization_id)
  WHERE budget_authorization_id IS NOT NULL AND (status = 'pending' OR status = 'in_progress' OR status = 'delivered' OR disputed = 1);
-- A user's list is merged from these three: as buyer, as builder, as hirer.
CREATE INDEX tasks_by_buyer ON tasks (buyer_id, id);
CREATE INDEX tasks_by_builder ON tasks (builder_id, id /*+ , status, buyer_id, hirer_id */);
CREATE INDEX tasks_by_hirer ON tasks (hirer_id, id /*+ , status, buyer_id */) WHERE hirer_id IS NOT NULL;
-- The same of one status: a few that are open are found amid many that are done.
CREATE INDEX tasks_by_buyer_status ON tasks (buyer_id, status, id);
CREATE INDEX tasks_by_builder_status ON tasks (builder_id, status, id /*+ , buyer_id, hirer_id */) WHERE status <> 'draft';
CREATE INDEX tasks_by_hirer_status ON tasks (hirer_id, status, id /*+ , buyer_id */) WHERE hirer_id IS NOT NULL;
-- The administrators' list.
CREATE INDEX tasks_disputed ON tasks (id) WHERE disputed = 1;

-- What was done to a task, by whom: one row for each submit, accept, message and so on. It grows with what they write.
CREATE TABLE task_steps (
  task_id TEXT NOT NULL REFERENCES tasks (id),
  position INTEGER NOT NULL,
  trigger TEXT NOT NULL,
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  party TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  via TEXT NOT NULL,
  request_id TEXT,
  at BIGINT NOT NULL,
  real_at BIGINT NOT NULL,
  PRIMARY KEY (task_id, position)
);

CREATE TABLE deliverables (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  content TEXT,
  notes TEXT,
  created_at BIGINT NOT NULL,
  files TEXT,
  position INTEGER NOT NULL DEFAULT 0
);
-- The deliverables of a task, and the latest of them. It also keeps positions unique.
CREATE UNIQUE INDEX deliverables_in_order ON deliverables (task_id, position);

CREATE TABLE disputes (
  task_id TEXT PRIMARY KEY REFERENCES tasks (id),
  status TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  reason TEXT NOT NULL,
  opened_at BIGINT NOT NULL,
  opened_from TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  resolved_at BIGINT,
  outcome TEXT,
  refund_amount BIGINT,
  outcome_reason TEXT
);
-- What waits for a decision, the oldest first.
CREATE INDEX disputes_open ON disputes (opened_at) WHERE status = 'open';

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  sender_id TEXT NOT NULL,
  sender_role TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
-- A task's list, in its order.
CREATE INDEX messages_by_task ON messages (task_id, id);

CREATE TABLE reviews (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE REFERENCES tasks (id),
  agent_id TEXT NOT NULL,
  buyer_id TEXT NOT NULL,
  rating INTEGER NOT NULL,
  comment TEXT,
  created_at BIGINT NOT NULL
);
-- An agent's list, in its order.
CREATE INDEX reviews_by_agent ON reviews (agent_id, id);

CREATE TABLE seen_signatures (
  signature TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT NOT NULL,
  seen_at BIGINT NOT NULL
);
-- Retention finds old rows.
CREATE INDEX seen_signatures_by_time ON seen_signatures (seen_at);
`
