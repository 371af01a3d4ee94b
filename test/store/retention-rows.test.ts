// engines: embedded, postgres; process: shared
/** What is too old, what is counted, and what a clock that was ahead has left: each function returns and changes the rows that it names, and no neighbour of theirs. */

import { tallied, tally } from '../../src/store/tables/tallies.ts'
import {
  deleteLocation,
  insertLocation,
  otherLocations,
  renewLocation,
} from '../../src/store/tables/upkeep/file-locations.ts'
import { type Kept, keptKinds, olderKinds, oldestOf, removeOlder } from '../../src/store/tables/upkeep/retention.ts'
import { mendMoments } from '../../src/store/tables/upkeep/set-back-clock.ts'
import { testRows } from './row-effects.ts'

/** As old for each kind. */
const at = (before: number) => Object.fromEntries(keptKinds.map(kind => [kind, before])) as Record<Kept, number>

testRows('rows of what is too old', {
  "places of files: others by their leases, one's own renewed while it lasts": [
    [
      tx => otherLocations(tx, 'i1', 99),
      [
        { instance: 'i4', location: 'p2', holder: 'four', leasedUntil: 200 },
        { instance: 'i2', location: 'p2', holder: 'two', leasedUntil: 100 },
        { instance: 'i5', location: 'p2', holder: 'five', leasedUntil: 100 },
      ],
    ],
    [tx => otherLocations(tx, 'i9', 99).then(rows => rows.map(({ instance }) => instance)), ['i4', 'i1', 'i2', 'i5']],
    [tx => otherLocations(tx, 'i1', 100).then(rows => rows.map(({ instance }) => instance)), ['i4']],
    [
      tx => insertLocation(tx, { instance: 'i2', location: 'p9', holder: 'nine', leasedUntil: 300 }, 50),
      undefined,
      ['file_locations i2: location p2 → p9, holder two → nine, leased_until 100 → 300', '− file_locations i3'],
    ],
    [
      tx => insertLocation(tx, { instance: 'i9', location: 'p9', holder: 'nine', leasedUntil: 300 }, 100),
      undefined,
      [
        '+ file_locations i9 {"instance":"i9","location":"p9","holder":"nine","leased_until":300}',
        '− file_locations i1',
        '− file_locations i2',
        '− file_locations i3',
        '− file_locations i5',
      ],
    ],
    [tx => renewLocation(tx, 'i1', 99, 300), true, ['file_locations i1: leased_until 100 → 300']],
    [tx => renewLocation(tx, 'i1', 100, 300), false],
    [tx => renewLocation(tx, 'i9', 0, 300), false],
    [tx => deleteLocation(tx, 'i1'), 1, ['− file_locations i1']],
  ],
  'what is too old: found by its age alone, removed the oldest first': [
    [tx => Promise.all(keptKinds.map(kind => oldestOf(tx, kind))), [20, 20, 5, 5, 30, 10, 5, 5, 90, 5]],
    [tx => olderKinds(tx, at(4)), []],
    [tx => olderKinds(tx, at(5)), ['notifications', 'mails', 'idempotency_keys', 'seen_signatures', 'guesses']],
    [tx => olderKinds(tx, at(20)), keptKinds.filter(kind => !['sessions', 'rate_windows'].includes(kind))],
    [tx => olderKinds(tx, { ...at(4), sessions: 30 }), ['sessions']],
    [
      tx =>
        tx
          .run('DELETE FROM attempts')
          .then(() => tx.run('DELETE FROM deliveries'))
          .then(() => oldestOf(tx, 'deliveries')),
      null,
      [
        '− attempts d8/1',
        '− attempts d8/2',
        '− attempts da/1',
        '− deliveries d1',
        '− deliveries d2',
        '− deliveries d3',
        '− deliveries d4',
        '− deliveries d5',
        '− deliveries d6',
        '− deliveries d7',
        '− deliveries d8',
        '− deliveries d9',
        '− deliveries da',
        '− deliveries db',
      ],
    ],
    [tx => removeOlder(tx, 'delivery_bodies', 19, 10), 0],
    [tx => removeOlder(tx, 'delivery_bodies', 30, 1), 1, ['deliveries da: body ten → ', '− attempts da/1']],
    [
      tx => removeOlder(tx, 'delivery_bodies', 30, 10),
      2,
      [
        'deliveries d8: body eight → ',
        'deliveries da: body ten → ',
        '− attempts d8/1',
        '− attempts d8/2',
        '− attempts da/1',
      ],
    ],
    [
      tx =>
        tx
          .run(
            `UPDATE deliveries SET counted_to = CASE id WHEN 'da' THEN 'a' ELSE 'c' END, body = 'ä' WHERE id IN ('d8', 'da')`,
          )
          .then(() => tx.run(`UPDATE text_usage SET bytes = 10000`))
          .then(() => removeOlder(tx, 'delivery_bodies', 30, 2)),
      2,
      [
        'deliveries d8: counted_to null → c, body eight → ',
        'deliveries da: counted_to null → a, body ten → ',
        'text_usage a: bytes 30 → 1806',
        'text_usage b: bytes 20 → 10000',
        '− attempts d8/1',
        '− attempts d8/2',
        '− attempts da/1',
      ],
    ],
    [tx => removeOlder(tx, 'deliveries', 20, 10), 1, ['− deliveries d7']],
    [tx => removeOlder(tx, 'deliveries', 19, 10), 0],
    [tx => removeOlder(tx, 'notifications', 10, 10), 2, ['− notifications n1', '− notifications n4']],
    [tx => removeOlder(tx, 'notifications', 30, 1), 1, ['− notifications n4']],
    [tx => removeOlder(tx, 'mails', 10, 10), 3, ['− mails m1', '− mails m2', '− mails m4', '− security_notices n1']],
    [tx => removeOlder(tx, 'mails', 30, 1), 1, ['− mails m4']],
    [
      tx => tx.run(`UPDATE mails SET about = 'n2' WHERE id = 'm4'`).then(() => removeOlder(tx, 'mails', 5, 1)),
      1,
      ['− mails m4', '− security_notices n2'],
    ],
    [tx => removeOlder(tx, 'sessions', 30, 10), 3, ['− sessions h2', '− sessions h3', '− sessions h4']],
    [tx => removeOlder(tx, 'sessions', 29, 10), 0],
    [tx => removeOlder(tx, 'password_resets', 10, 10), 1, ['− password_resets t1']],
    [
      tx => removeOlder(tx, 'idempotency_keys', 10, 10),
      2,
      ['− idempotency_keys a/POST//p/k1', '− idempotency_keys b/POST//p/k3'],
    ],
    [tx => removeOlder(tx, 'idempotency_keys', 30, 1), 1, ['− idempotency_keys b/POST//p/k3']],
    [tx => removeOlder(tx, 'seen_signatures', 10, 10), 2, ['− seen_signatures g1', '− seen_signatures g3']],
    [tx => removeOlder(tx, 'rate_windows', 100, 10), 2, ['− rate_windows read/i1', '− rate_windows write/i1']],
    [tx => removeOlder(tx, 'rate_windows', 110, 1), 1, ['− rate_windows write/i1']],
    [tx => removeOlder(tx, 'guesses', 10, 10), 2, ['− guesses g1', '− guesses g3']],
    [tx => removeOlder(tx, 'guesses', 20, 1), 1, ['− guesses g3']],
  ],
  'tallies: kept in slots, summed by name': [
    [tx => tally(tx, 'users', 'a', 1), [true], ['tallies users/1: count 4 → 5']],
    [tx => tally(tx, 'users', 'b', -1), [true], ['tallies users/2: count 3 → 2']],
    [tx => tally(tx, 'agents', 'xy', 1), [true], ['+ tallies agents/9 {"name":"agents","slot":9,"count":1}']],
    [tx => tallied(tx, ['users']), 7],
    [tx => tallied(tx, ['users', 'tasks']), 17],
    [tx => tallied(tx, ['withdrawal rejected']), 0],
  ],
  'a clock that was ahead: what it wrote is mended, and nothing else': [
    [
      tx =>
        mendMoments(tx, {
          now: 10,
          realNow: 30,
          toleranceMs: 5,
          longest: { deliveryLeaseMs: 20, retryMs: 100, jobMs: 5, jobLeaseMs: 10, requestMs: 20 },
        }),
      12,
      [
        'agents g_1: last_pass_at 100000000 → 10, tested_at 100 → 10',
        'agents g_2: last_pass_at 100000000 → 10, failed_at 90 → 10, tested_at 50 → 10',
        'agents g_3: last_pass_at 99999999 → 10, failed_at 99999999 → 10, tested_at 50 → 10',
        'agents g_4: deactivated_at 200 → 10',
        'agents g_8: last_pass_at 100000000 → 10, tested_at 60 → 10',
        'agents g_9: last_pass_at 100000000 → 9, failed_at 100000001 → 10, tested_at 70 → 10',
        'deliveries d5: leased_until 60 → 0',
        'idempotency_keys a/POST//q/k2: running_until 60 → 0',
        'idempotency_keys a/PUT//p/k2: running_until 60 → 0',
        'idempotency_keys b/POST//p/k2: running_until 60 → 0',
        'jobs j2: leased_until 50 → 0',
        'jobs j4: leased_until 50 → 0',
      ],
    ],
    [
      tx =>
        mendMoments(tx, {
          now: 0,
          realNow: 0,
          toleranceMs: 3,
          longest: { deliveryLeaseMs: 47, retryMs: 7, jobMs: 2, jobLeaseMs: 47, requestMs: 47 },
        }),
      26,
      [
        'agent_tests e1: started_at 10 → 0',
        'agent_tests e2: started_at 20 → 0',
        'agent_tests e3: started_at 30 → 0',
        'agents g_1: last_pass_at 100000000 → 0, tested_at 100 → 0',
        'agents g_2: last_pass_at 100000000 → 0, failed_at 90 → 0, tested_at 50 → 0',
        'agents g_3: last_pass_at 99999999 → 0, failed_at 99999999 → 0, tested_at 50 → 0',
        'agents g_4: deactivated_at 200 → 0',
        'agents g_8: last_pass_at 100000000 → 0, tested_at 60 → 0',
        'agents g_9: last_pass_at 100000000 → -1, failed_at 100000001 → 0, tested_at 70 → 0',
        'deliveries d1: next_at 10 → 0',
        'deliveries d4: next_at 10 → 0',
        'deliveries d5: next_at 5 → 0, leased_until 60 → 0',
        'deliveries d6: next_at 20 → 0',
        'deliveries d9: next_at 15 → 0',
        'idempotency_keys a/POST//q/k2: running_until 60 → 0',
        'idempotency_keys a/PUT//p/k2: running_until 60 → 0',
        'idempotency_keys b/POST//p/k2: running_until 60 → 0',
        'jobs j1: next_at 10 → 0',
        'jobs j2: next_at 10 → 0',
        'jobs j3: next_at 20 → 0',
        'mails m1: next_at 10 → 0',
        'mails m2: next_at 10 → 0',
        'mails m3: next_at 20 → 0',
        'mails m4: next_at 5 → 0',
        'mails m5: next_at 30 → 0',
      ],
    ],
    [
      tx =>
        mendMoments(tx, {
          now: 10,
          realNow: 30,
          toleranceMs: 0,
          longest: { deliveryLeaseMs: 30, retryMs: 0, jobMs: 10, jobLeaseMs: 20, requestMs: 30 },
        }),
      10,
      [
        'agents g_1: last_pass_at 100000000 → 10, tested_at 100 → 10',
        'agents g_2: last_pass_at 100000000 → 10, failed_at 90 → 10, tested_at 50 → 10',
        'agents g_3: last_pass_at 99999999 → 10, failed_at 99999999 → 10, tested_at 50 → 10',
        'agents g_4: deactivated_at 200 → 10',
        'agents g_8: last_pass_at 100000000 → 10, tested_at 60 → 10',
        'agents g_9: last_pass_at 100000000 → 9, failed_at 100000001 → 10, tested_at 70 → 10',
        'deliveries d6: next_at 20 → 10',
        'deliveries d9: next_at 15 → 10',
        'mails m3: next_at 20 → 10',
        'mails m5: next_at 30 → 10',
      ],
    ],
    [
      tx =>
        mendMoments(tx, {
          now: 0,
          realNow: 99,
          toleranceMs: 100_000_000,
          longest: { deliveryLeaseMs: 30, retryMs: 0, jobMs: 10, jobLeaseMs: 20, requestMs: 30 },
        }),
      1,
      ['agents g_9: failed_at 100000001 → 0'],
    ],
    [
      tx =>
        mendMoments(tx, {
          now: 80,
          realNow: 5,
          toleranceMs: 5,
          longest: { deliveryLeaseMs: 100, retryMs: 100, jobMs: 100, jobLeaseMs: 100, requestMs: 100 },
        }),
      8,
      [
        'agent_tests e2: started_at 20 → 0',
        'agent_tests e3: started_at 30 → 0',
        'agents g_1: last_pass_at 100000000 → 80, tested_at 100 → 80',
        'agents g_2: last_pass_at 100000000 → 80, failed_at 90 → 80',
        'agents g_3: last_pass_at 99999999 → 80, failed_at 99999999 → 80',
        'agents g_4: deactivated_at 200 → 80',
        'agents g_8: last_pass_at 100000000 → 80',
        'agents g_9: last_pass_at 100000000 → 79, failed_at 100000001 → 80',
      ],
    ],
    [
      tx =>
        mendMoments(tx, {
          now: 100_000_001,
          realNow: 99,
          toleranceMs: 0,
          longest: { deliveryLeaseMs: 30, retryMs: 0, jobMs: 10, jobLeaseMs: 20, requestMs: 30 },
        }),
      0,
    ],
    [
      tx =>
        tx.run(`UPDATE agents SET deleted_at = 5 WHERE id = 'g_4'`).then(() =>
          mendMoments(tx, {
            now: 150,
            realNow: 99,
            toleranceMs: 0,
            longest: { deliveryLeaseMs: 30, retryMs: 0, jobMs: 10, jobLeaseMs: 20, requestMs: 30 },
          }),
        ),
      5,
      [
        'agents g_1: last_pass_at 100000000 → 150',
        'agents g_2: last_pass_at 100000000 → 150',
        'agents g_3: last_pass_at 99999999 → 150, failed_at 99999999 → 150',
        'agents g_4: deleted_at null → 5',
        'agents g_8: last_pass_at 100000000 → 150',
        'agents g_9: last_pass_at 100000000 → 149, failed_at 100000001 → 150',
      ],
    ],
    [
      tx =>
        tx.run(`UPDATE agents SET status = 'draft', deactivated_at = 900 WHERE id = 'g_1'`).then(() =>
          mendMoments(tx, {
            now: 200,
            realNow: 99,
            toleranceMs: 0,
            longest: { deliveryLeaseMs: 30, retryMs: 0, jobMs: 10, jobLeaseMs: 20, requestMs: 30 },
          }),
        ),
      4,
      [
        'agents g_1: status active → draft, deactivated_at null → 900',
        'agents g_2: last_pass_at 100000000 → 200',
        'agents g_3: last_pass_at 99999999 → 200, failed_at 99999999 → 200',
        'agents g_8: last_pass_at 100000000 → 200',
        'agents g_9: last_pass_at 100000000 → 199, failed_at 100000001 → 200',
      ],
    ],
  ],
})
