/** Budget authorizations: how much an agent may spend from its owner's wallet. */
export const budgets = `
CREATE TABLE budget_authorizations (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES users (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  max_per_task BIGINT NOT NULL CHECK (max_per_task >= 200),
  max_daily BIGINT NOT NULL,
  max_monthly BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (owner_id, agent_id),
  CHECK (max_per_task <= max_daily AND max_daily <= max_monthly)
);
-- The lists of owners and of agents, in their order.
CREATE INDEX budget_authorizations_by_owner ON budget_authorizations (owner_id, id);
CREATE INDEX budget_authorizations_by_agent ON budget_authorizations (agent_id, id);

CREATE TABLE budget_categories (
  authorization_id TEXT NOT NULL REFERENCES budget_authorizations (id),
  category_id TEXT NOT NULL REFERENCES categories (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (authorization_id, category_id)
);
-- Whether a category is in use.
CREATE INDEX budget_categories_by_category ON budget_categories (category_id, authorization_id);
`
