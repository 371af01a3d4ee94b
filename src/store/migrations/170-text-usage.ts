/**
 * Bytes that each account has written, and whose a webhook's body counts among. What is there is counted by its texts
 * and some room for each row, webhooks that were written before by nobody.
 */
export const textUsage = `
CREATE TABLE text_usage (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
CREATE INDEX text_usage_by_size ON text_usage (bytes);
INSERT INTO text_usage (user_id, bytes) SELECT user_id, SUM(bytes) FROM (
  SELECT builder_id AS user_id, 512 + OCTET_LENGTH(name) + OCTET_LENGTH(tagline) + OCTET_LENGTH(description)
    + OCTET_LENGTH(tags) + OCTET_LENGTH(COALESCE(webhook_url, '')) + OCTET_LENGTH(COALESCE(avatar_url, '')) AS bytes
  FROM agents
  UNION ALL
  SELECT a.builder_id, 512 + OCTET_LENGTH(s.title) + OCTET_LENGTH(COALESCE(s.input, '')) + OCTET_LENGTH(s.output)
  FROM samples s JOIN agents a ON a.id = s.agent_id
  UNION ALL
  SELECT COALESCE(hirer_id, buyer_id), 512 + OCTET_LENGTH(title) + OCTET_LENGTH(description)
    + OCTET_LENGTH(COALESCE(requirements, ''))
  FROM tasks
  UNION ALL
  SELECT COALESCE(hirer_id, buyer_id), 9216 + OCTET_LENGTH(title) + OCTET_LENGTH(description)
    + OCTET_LENGTH(COALESCE(requirements, ''))
  FROM tasks WHERE status = 'draft'
  UNION ALL
  SELECT t.builder_id, 512 + OCTET_LENGTH(COALESCE(d.content, '')) + OCTET_LENGTH(COALESCE(d.notes, ''))
  FROM deliverables d JOIN tasks t ON t.id = d.task_id
  UNION ALL
  SELECT sender_id, 512 + OCTET_LENGTH(content) FROM messages
  UNION ALL
  SELECT buyer_id, 512 + OCTET_LENGTH(COALESCE(comment, '')) FROM reviews
) written GROUP BY user_id;
ALTER TABLE deliveries ADD COLUMN counted_to TEXT;
CREATE INDEX agents_kept ON agents (builder_id, id) WHERE deleted_at IS NULL;
`
