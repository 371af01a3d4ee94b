-- All that a submit over HTTP does to the database, as one statement: the fastest form that the same work has.
-- Which task, by which key, under which new ids, stands in a row of its own for each time that the script runs.
\set i :i + 1
\set n :client_id * 1000000 + :i
WITH given AS (
  SELECT * FROM pgbench_submits WHERE n = :n
), holder AS (
  SELECT u.id, u.email, u.name, u.password_hash, u.is_builder, u.is_admin, u.suspended, u.banned, u.identity_verified,
    u.chargebacks, u.connect_status, u.created_at, k.id AS key_id
  FROM given g JOIN api_keys k ON k.key_hash = g.key_hash JOIN users u ON u.id = k.user_id
), task AS (
  SELECT t.* FROM given g JOIN tasks t ON t.id = g.task_id FOR NO KEY UPDATE OF t
), agent AS (
  SELECT a.id, a.builder_id, a.max_revisions, a.status, a.last_pass_at, a.failed_at, a.deleted_at
  FROM task t JOIN agents a ON a.id = t.agent_id FOR KEY SHARE OF a
), submitted AS (
  UPDATE tasks SET status = 'pending', disputed = 0, updated_at = g.now, submitted_at = g.now
  FROM given g, task t, agent a, holder h, users b
  WHERE tasks.id = t.id AND tasks.status = 'draft' AND tasks.disputed = 0 AND tasks.buyer_id = h.id
    AND a.status IN ('verified', 'active') AND a.deleted_at IS NULL AND a.last_pass_at > 0
    AND b.id = a.builder_id AND b.suspended = 0 AND b.banned = 0 AND h.suspended = 0 AND h.banned = 0
  RETURNING tasks.id, tasks.agent_id, tasks.buyer_id, tasks.agreed_price, tasks.title
), noted AS (
  INSERT INTO task_steps (task_id, position, trigger, from_status, to_status, party, actor_id, via, at, real_at)
  SELECT s.id, (SELECT COALESCE(MAX(t.position) + 1, 0) FROM task_steps t WHERE t.task_id = s.id), 'submit', 'draft', 'pending',
    'buyer', s.buyer_id, 'key', g.now, g.now
  FROM given g, submitted s
), summed AS (
  INSERT INTO work_sums (whose, slot, held, submitted)
  SELECT whose, ascii(right(id, 1)) % 16, held, submitted FROM (
    SELECT agent_id AS whose, id, agreed_price AS held, 0 AS submitted FROM submitted
    UNION ALL SELECT buyer_id, id, 0, 1 FROM submitted
  ) added ORDER BY whose
  ON CONFLICT (whose, slot) DO UPDATE SET held = work_sums.held + excluded.held, submitted = work_sums.submitted + excluded.submitted
), debited AS (
  UPDATE accounts SET balance = balance - s.agreed_price FROM submitted s
  WHERE accounts.id = 'available:' || s.buyer_id AND balance >= s.agreed_price
), credited AS (
  UPDATE accounts SET balance = balance + s.agreed_price FROM submitted s WHERE accounts.id = 'held:' || s.buyer_id
), entered AS (
  INSERT INTO entries (leg_id, kind, debited_id, credited_id, amount, created_at)
  SELECT g.transfer_id, 'hold', 'available:' || s.buyer_id, 'held:' || s.buyer_id, s.agreed_price, g.now
  FROM given g, submitted s
), transferred AS (
  INSERT INTO transfers (id, kind, payer_id, payee_id, amount, task_id, status, description, created_at)
  SELECT g.transfer_id, 'hold', s.buyer_id, s.buyer_id, s.agreed_price, s.id, 'completed', 'Held for ' || s.title, g.now
  FROM given g, submitted s
)
INSERT INTO deliveries (id, agent_id, task_id, event, body, state, next_at, created_at)
SELECT g.delivery_id, s.agent_id, s.id, 'task.submitted', g.body, 'pending', g.now, g.now
FROM given g, submitted s;
