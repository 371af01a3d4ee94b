/**
 * Rows that lie beside each other in every table: of two accounts, two agents, two tasks; at the same moment, at the edge of
 * a time, in another state. Whatever is done to one of them must leave the others alone.
 */
import type { Value } from '../../src/store/db.ts'
import { tables } from './table-rules.ts'

export type Row = Readonly<Record<string, Value>>

/** Tables stand behind those that they refer to. */
export const neighbours: (readonly [table: string, row: Row])[] = []

/** Rows of a table: `columns` name the values of each, the rest is as `table-rules.ts` has it. */
function rows(table: string, columns: string, ...all: readonly (readonly Value[])[]): void {
  const names = columns.split(' ')
  for (const values of all) {
    const row = Object.fromEntries(names.map((name, i) => [name, values[i]!]))
    neighbours.push([table, { ...tables[table]!.row, ...row }])
  }
}

// Accounts: a and b build, c buys.
rows(
  'users',
  'id email name is_builder is_admin suspended banned created_at',
  ['a', 'a@x', 'Ann', 1, 0, 0, 0, 1],
  ['b', 'b@x', 'Bob', 1, 0, 0, 0, 2],
  ['c', 'c@x', 'Cid', 0, 0, 0, 0, 3],
  ['d', 'd@x', 'Dan', 1, 1, 1, 1, 4],
)
rows(
  'sessions',
  'id token_hash user_id created_at seen_at address user_agent',
  ['s1', 'h1', 'a', 10, 40, '1.1.1.1', 'one'],
  ['s2', 'h2', 'a', 20, 30, null, null],
  ['s3', 'h3', 'a', 20, 30, null, null],
  ['s4', 'h4', 'a', 15, 30, null, null],
  ['s5', 'h5', 'b', 10, 40, null, null],
)
rows('api_keys', 'id user_id name key_hash created_at', ['k1', 'a', 'one', 'kh1', 10], ['k2', 'a', 'two', 'kh2', 20])
rows('api_keys', 'id user_id name key_hash created_at', ['k3', 'a', 'three', 'kh3', 30], ['k4', 'b', 'four', 'kh4', 40])
rows('api_key_uses', 'key_id last_used_at', ['k1', 50], ['k4', 60])
rows(
  'second_factors',
  'user_id secret last_step created_at enabled_at',
  ['a', 'sa', 5, 1, null],
  ['b', 'sb', 7, 2, 10],
  ['c', 'sa', 5, 3, null],
)
rows('recovery_codes', 'user_id code_hash', ['a', 'c1'], ['a', 'c2'], ['b', 'c1'])
rows('known_addresses', 'user_id address seen_at', ['a', 'x', 10], ['a', 'y', 20], ['a', 'z', 20], ['b', 'x', 5])
rows('settings', 'name value', ['one', '1'], ['two', '2'])
rows(
  'password_resets',
  'token_hash user_id mail_id created_at',
  ['t1', 'a', 'm1', 10],
  ['t2', 'a', 'm1', 20],
  ['t3', 'a', 'm2', 20],
  ['t4', 'b', 'm3', 20],
)
rows('guesses', 'subject count next_at ends_at', ['g1', 2, 5, 10], ['g2', 3, 6, 20], ['g3', 1, 7, 5])
rows(
  'rate_windows',
  'category address count ends_at',
  ['read', 'i1', 3, 100],
  ['read', 'i2', 1, 110],
  ['write', 'i1', 2, 90],
)
rows(
  'idempotency_keys',
  'user_id method path key fingerprint status answer running_until created_at kept_to',
  ['a', 'POST', '/p', 'k1', 'f1', 200, 'yes', 50, 10, 20],
  ['a', 'POST', '/p', 'k2', 'f2', null, null, 50, 20, null],
  ['a', 'POST', '/q', 'k2', 'f3', null, null, 60, 30, null],
  ['a', 'PUT', '/p', 'k2', 'f4', null, null, 60, 30, null],
  ['b', 'POST', '/p', 'k2', 'f5', null, null, 60, 30, null],
  ['b', 'POST', '/p', 'k3', 'f6', 201, null, 70, 5, 10],
)
rows('idempotency_usage', 'user_id bytes', ['a', 30], ['b', 20])
rows(
  'seen_signatures',
  'signature task_id status answer seen_at',
  ['g1', 't1', 200, 'yes', 10],
  ['g2', 't1', 400, 'no', 20],
)
rows('seen_signatures', 'signature task_id status answer seen_at', ['g3', 't2', 200, 'yes', 5])
rows(
  'mails',
  'id kind about attempts next_at created_at',
  ['m1', 'password_reset', 'a@x', 0, 10, 5],
  ['m2', 'notification', 'n1', 1, 10, 6],
  ['m3', 'password_reset', 'b@x', 0, 20, 7],
  ['m4', 'notification', 'a@x', 2, 5, 8],
  ['m5', 'password_reset', 'a@x', 3, 30, 9],
)
rows(
  'security_notices',
  'id user_id kind detail address created_at',
  ['n1', 'a', 'password_changed', null, '1.1.1.1', 6],
  ['n2', 'b', 'api_key_created', 'k4', null, 7],
)
rows(
  'jobs',
  'name next_at leased_until retries',
  ['j1', 10, 0, 0],
  ['j2', 10, 50, 2],
  ['j3', 20, 0, 1],
  ['j4', 5, 50, 0],
)
rows('uploads', 'id begun_at doomed', ['u1', 10, 0], ['u2', 10, 1], ['u3', 20, 0], ['u4', 5, 0], ['u5', 10, 0])
rows('file_usage', 'user_id bytes', ['a', 100], ['b', 50])
rows('text_usage', 'user_id bytes', ['a', 30], ['b', 20])
rows(
  'purges',
  'user_id begun_by begun_at ended_at stage after rows_removed bytes_removed open_tasks',
  ['a', 'b', 10, null, 1, 't1', 2, 30, 0],
  ['b', 'a', 20, 30, 8, '', 4, 50, 1],
)
rows(
  'file_locations',
  'instance location holder leased_until',
  ['i1', 'p1', 'one', 100],
  ['i2', 'p2', 'two', 100],
  ['i3', 'p1', 'three', 50],
  ['i4', 'p2', 'four', 200],
  ['i5', 'p2', 'five', 100],
)
rows('senders', 'id beats', ['s1', 3], ['s2', 5], ['s3', 3])
rows('tallies', 'name slot count', ['users', 1, 4], ['users', 2, 3], ['agents', 1, 7], ['tasks', 1, 9], ['tasks', 2, 1])
rows(
  'tallies',
  'name slot count',
  ['disputed tasks', 1, 2],
  ['deposit pending', 1, 3],
  ['deposit completed', 1, 5],
  ['deposit rejected', 1, 8],
  ['withdrawal pending', 1, 13],
  ['withdrawal completed', 1, 21],
)

// Agents: of a, of b, of one who is banned.
rows(
  'categories',
  'id name slug',
  ['cat1', 'One', 'one'],
  ['cat2', 'Two', 'two'],
  ['cat3', 'Three', 'three'],
  ['cat4', 'Four', 'four'],
)
rows(
  'agents',
  'id slug builder_id status base_price completed_tasks last_pass_at failed_at tested_at deactivated_at deleted_at created_at secret old_secret webhook_url',
  ['g_1', 'one', 'a', 'active', 300, 5, 100_000_000, null, 100, null, null, 10, 'x1', null, 'w1'],
  ['g_2', 'two', 'a', 'verified', 300, 5, 100_000_000, 90, 50, null, null, 10, 'x1', 'o2', 'w1'],
  ['g_3', 'three', 'b', 'active', 200, 9, 99_999_999, 99_999_999, 50, null, null, 30, 'x3', null, 'w3'],
  ['g_4', 'four', 'b', 'inactive', 400, 1, 100_000_000, null, 10, 200, null, 20, null, 'o4', null],
  ['g_5', 'five', 'b', 'draft', 500, 0, null, null, null, null, null, 40, null, null, null],
  ['g_6', 'six', 'b', 'pending_review', 600, 0, null, null, null, null, null, 50, null, null, null],
  ['g_7', 'seven', 'b', 'active', 250, 2, 100_000_000, null, 20, null, 300, 60, 'x7', null, 'w7'],
  ['g_8', 'eight', 'd', 'active', 270, 3, 100_000_000, null, 60, null, null, 70, 'x8', null, 'w8'],
  ['g_9', 'nine', 'b', 'active', 280, 4, 100_000_000, 100_000_001, 70, null, null, 80, 'x9', null, 'w9'],
)
rows(
  'agent_categories',
  'agent_id category_id position',
  ['g_1', 'cat2', 0],
  ['g_1', 'cat1', 1],
  ['g_2', 'cat1', 0],
  ['g_2', 'cat2', 0],
  ['g_3', 'cat2', 0],
  ['g_8', 'cat1', 0],
)
rows(
  'agent_terms',
  'term agent_id',
  ['ab', 'g_1'],
  ['abc', 'g_1'],
  ['abcd', 'g_1'],
  ['abcd', 'g_2'],
  ['abce', 'g_2'],
  ['b', 'g_3'],
)
rows(
  'agent_tests',
  'id agent_id started_at callback ended',
  ['e1', 'g_1', 10, null, 0],
  ['e2', 'g_2', 20, 'valid', 0],
  ['e3', 'g_3', 30, null, 1],
)
rows(
  'agent_reports',
  'agent_id kind tested_at report',
  ['g_1', 'test', 10, 'one'],
  ['g_1', 'test', 20, 'two'],
  ['g_1', 'heartbeat', 15, 'three'],
  ['g_1', 'heartbeat', 20, 'four'],
  ['g_2', 'test', 10, 'five'],
)
rows(
  'samples',
  'id agent_id title input output created_at',
  ['p1', 'g_1', 'one', 'in', 'out', 10],
  ['p2', 'g_1', 'two', null, 'out', 20],
  ['p3', 'g_1', 'three', null, 'out', 30],
  ['p4', 'g_2', 'four', null, 'out', 40],
)
rows(
  'notifications',
  'id user_id agent_id type created_at read_at',
  ['n1', 'a', 'g_1', 'x', 10, null],
  ['n2', 'a', 'g_1', 'x', 20, 5],
  ['n3', 'a', 'g_2', 'x', 30, null],
  ['n4', 'b', 'g_3', 'x', 5, null],
)
rows(
  'budget_authorizations',
  'id owner_id agent_id max_per_task max_daily max_monthly status created_at updated_at',
  ['v1', 'c', 'g_1', 200, 300, 400, 'active', 10, 10],
  ['v2', 'c', 'g_3', 210, 310, 410, 'paused', 20, 20],
  ['v3', 'c', 'g_9', 220, 320, 420, 'active', 30, 30],
  ['v4', 'b', 'g_1', 230, 330, 430, 'active', 40, 40],
)
rows(
  'budget_categories',
  'authorization_id category_id position',
  ['v1', 'cat2', 0],
  ['v1', 'cat1', 1],
  ['v2', 'cat1', 0],
  ['v2', 'cat3', 0],
)

// Tasks of c with agents of a and b, in every state.
rows(
  'tasks',
  'id agent_id buyer_id builder_id hirer_id buyer_agent_id budget_authorization_id agreed_price status disputed submitted_at completed_at created_at updated_at',
  ['t1', 'g_1', 'c', 'a', null, null, null, 200, 'draft', 0, null, null, 10, 10],
  ['t2', 'g_1', 'c', 'a', null, null, null, 300, 'pending', 0, 20, null, 10, 20],
  ['t3', 'g_1', 'c', 'a', 'b', 'g_3', 'v2', 400, 'in_progress', 0, 30, null, 10, 30],
  ['t4', 'g_3', 'c', 'b', 'a', 'g_1', 'v1', 500, 'delivered', 1, 40, null, 10, 40],
  ['t5', 'g_3', 'c', 'b', 'a', 'g_1', 'v1', 600, 'completed', 0, 50, 55, 10, 50],
  ['t6', 'g_9', 'c', 'b', null, null, null, 700, 'cancelled', 0, 60, null, 10, 60],
  ['t7', 'g_1', 'a', 'a', null, null, null, 800, 'completed', 0, 70, 75, 10, 70],
  ['t8', 'g_9', 'b', 'b', 'b', 'g_1', 'v1', 900, 'completed', 1, 50, 85, 10, 80],
  ['t9', 'g_2', 'b', 'a', null, 'g_3', null, 250, 'draft', 0, null, null, 10, 90],
)
rows(
  'task_steps',
  'task_id position trigger from_status to_status party actor_id via at real_at',
  ['t2', 0, 'submit', 'draft', 'pending', 'buyer', 'c', 'key', 20, 21],
  ['t2', 3, 'message', 'pending', 'pending', 'builder', 'a', 'signature', 30, 31],
  ['t4', 0, 'submit', 'draft', 'pending', 'buyer', 'a', 'session', 40, 41],
)
rows(
  'deliverables',
  'id task_id content notes files created_at position',
  ['y1', 't4', 'one', null, null, 10, 1],
  [
    'y2',
    't4',
    'two',
    'note',
    '[{"id":"f1","name":"n","size":3,"type":"t"},{"id":"f2","name":"n","size":4,"type":"t"}]',
    20,
    2,
  ],
  ['y3', 't4', 'three', null, '[{"id":"f3","name":"n","size":5,"type":"t"}]', 30, 0],
  ['y4', 't5', 'four', null, '[{"id":"f4","name":"n","size":6,"type":"t"}]', 40, 0],
  ['y5', 't2', null, null, '[{"id":"f5","name":"n","size":7,"type":"t"}]', 50, 0],
)
rows(
  'disputes',
  'task_id status reason opened_at opened_from opened_by resolved_at outcome refund_amount',
  ['t4', 'open', 'why', 41, 'delivered', 'c', null, null, null],
  ['t5', 'resolved', 'so', 51, 'completed', 'a', 52, 'release', 0],
  ['t8', 'open', 'hm', 81, 'completed', 'd', null, null, null],
)
rows(
  'messages',
  'id task_id sender_id content created_at',
  ['e1', 't4', 'c', 'one', 10],
  ['e2', 't4', 'b', 'two', 20],
  ['e3', 't4', 'c', 'three', 30],
  ['e4', 't5', 'c', 'four', 40],
)
rows(
  'reviews',
  'id task_id agent_id buyer_id rating comment created_at',
  ['r1', 't5', 'g_3', 'c', 4, 'good', 10],
  ['r2', 't7', 'g_1', 'a', 5, null, 20],
  ['r3', 't6', 'g_3', 'c', 1, null, 30],
  ['r4', 't4', 'g_3', 'c', 2, null, 40],
)

// Money: what c pays a and b.
rows(
  'accounts',
  'id user_id kind balance',
  ['world', null, 'world', -5000],
  ['payouts', null, 'payouts', 0],
  ['platform', null, 'platform', 0],
  ['available:a', 'a', 'available', 500],
  ['held:a', 'a', 'held', 0],
  ['clearing:a', 'a', 'clearing', 0],
  ['available:b', 'b', 'available', 600],
  ['held:b', 'b', 'held', 0],
  ['clearing:b', 'b', 'clearing', 700],
  ['available:c', 'c', 'available', 2000],
  ['held:c', 'c', 'held', 1200],
)
rows(
  'transfers',
  'id kind payer_id payee_id amount task_id status created_at',
  ['x1', 'deposit', null, 'c', 1000, null, 'completed', 10],
  ['x2', 'deposit', null, 'c', 2000, null, 'pending', 20],
  ['x3', 'deposit', null, 'c', 4000, null, 'rejected', 30],
  ['x4', 'deposit', null, 'b', 8000, null, 'pending', 40],
  ['x5', 'withdrawal', 'a', null, 100, null, 'pending', 50],
  ['x6', 'withdrawal', 'b', null, 200, null, 'completed', 60],
  ['x7', 'hold', 'c', 'c', 600, 't5', 'completed', 70],
  ['x8', 'release', 'c', 'b', 600, 't5', 'clearing', 80],
  ['x9', 'refund', null, 'c', 700, 't6', 'completed', 90],
  ['xa', 'release', 'b', 'b', 900, 't8', 'reversed', 95],
  ['xb', 'deposit', null, 'c', 16_000, null, 'completed', 96],
)
rows(
  'entries',
  'leg_id kind debited_id credited_id amount created_at',
  ['x1', 'deposit', 'world', 'available:c', 1000, 10],
  ['x7', 'hold', 'available:c', 'held:c', 600, 70],
  ['x8', 'release', 'held:c', 'clearing:b', 600, 80],
)
rows(
  'settlements',
  'task_id builder_id released refunded status reversed clears_at created_at',
  ['t4', 'b', 500, 0, 'clearing', 0, 100, 40],
  ['t5', 'b', 600, 0, 'clearing', 0, 100, 50],
  ['t6', 'b', 0, 700, 'final', 0, null, 60],
  ['t7', 'a', 800, 0, 'clearing', 0, 100, 70],
  ['t8', 'b', 300, 600, 'final', 1, 90, 80],
  ['t3', 'a', 100, 300, 'clearing', 0, 110, 30],
)
// g_1 has worked in two slots, and has bought. All budgets were used on the first day.
rows(
  'work_sums',
  'whose slot held in_dispute earned clearing done submitted completed cancelled disputed lost ratings stars spent',
  ['g_1', 1, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ['g_1', 2, 400, 0, 900, 900, 0, 2, 1, 0, 2, 1, 2, 6, 0],
  ['g_3', 1, 500, 500, 1100, 1100, 1, 1, 0, 0, 0, 0, 0, 0, 0],
  ['g_9', 1, 0, 900, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ['c', 1, 0, 0, 0, 0, 0, 5, 1, 1, 2, 1, 3, 7, 0],
  ['v1 000000', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1400],
  ['v2 000000', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100],
)

// Webhooks: queues of two tasks to two agents.
rows(
  'deliveries',
  'id agent_id task_id event body state attempts next_at leased_until created_at ended_at position redelivery_of',
  ['d1', 'g_1', 't2', 'sent', 'one', 'pending', 1, 10, 0, 5, null, 3, null],
  ['d2', 'g_1', 't2', 'sent', 'two', 'waiting', 0, 10, 0, 6, null, 4, null],
  ['d3', 'g_1', 't2', 'sent', 'three', 'waiting', 0, 10, 0, 7, null, 5, null],
  ['d4', 'g_1', 't3', 'sent', 'four', 'pending', 2, 10, 50, 8, null, 0, null],
  ['d5', 'g_1', 't4', 'sent', 'five', 'pending', 1, 5, 60, 9, null, 0, null],
  ['d6', 'g_3', 't2', 'sent', 'six', 'pending', 0, 20, 0, 10, null, 0, null],
  ['d7', 'g_3', 't5', 'sent', '', 'delivered', 1, 1, 0, 11, 20, 0, null],
  ['d8', 'g_3', 't5', 'sent', 'eight', 'failed', 3, 1, 0, 12, 30, 1, 'd7'],
  ['d9', 'g_9', 't6', 'sent', 'nine', 'pending', 0, 15, 0, 13, null, 0, null],
  ['da', 'g_1', 't2', 'sent', 'ten', 'delivered', 1, 1, 0, 4, 20, 2, null],
  ['db', 'g_2', 't9', 'sent', 'eleven', 'waiting', 0, 1, 0, 14, null, 0, null],
)
rows(
  'attempts',
  'delivery_id attempt url status reason message answer duration_ms created_at',
  ['d8', 1, 'u', 500, null, 'one', 'no', 7, 21],
  ['d8', 2, 'u', null, 'timeout', 'two', null, 8, 22],
  ['da', 1, 'u', 200, null, 'three', 'yes', 9, 20],
)
