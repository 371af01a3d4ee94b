// engines: embedded, postgres; process: shared
/** Accounts, sessions, keys: each function returns and changes the rows that it names, and no neighbour of theirs. */
import {
  countKeys,
  deleteKey,
  deleteKeys,
  deleteKeysNamed,
  insertKey,
  keyById,
  listKeys,
  touchKey,
  userByKey,
} from '../../src/store/tables/accounts/keys.ts'
import {
  countSessions,
  deleteExpiredSessions,
  deleteOtherSessions,
  deleteSession,
  deleteSessions,
  deleteSessionsBeyond,
  insertSession,
  sessionById,
  sessionsOf,
  touchSession,
  userBySession,
} from '../../src/store/tables/accounts/sessions.ts'
import {
  countOpenWork,
  countUsers,
  hasAdministrator,
  insertUser,
  listUsers,
  updateUser,
  userByEmail,
  userById,
} from '../../src/store/tables/accounts/users.ts'
import { agentsWithSecret } from '../../src/store/tables/sealed-columns.ts'
import { testRows } from './row-effects.ts'

const idOf = (row: { id: unknown } | undefined) => row?.id
const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)

const eve = { id: 'e1', email: 'e@x', name: 'Eve', passwordHash: 'p', isBuilder: 1, isAdmin: 0, createdAt: 9 } as const

testRows('rows of accounts', {
  'accounts: found by id or email, listed oldest first': [
    [tx => userById(tx, 'a'), row => row('users a')],
    [tx => userById(tx, 'z'), undefined],
    [tx => userByEmail(tx, 'b@x').then(idOf), 'b'],
    [tx => userByEmail(tx, 'B@x'), undefined],
    [tx => listUsers(tx, 2, 1).then(idsOf), ['b', 'c']],
    [tx => listUsers(tx, 10, 0).then(idsOf), ['a', 'b', 'c', 'd']],
    [tx => countUsers(tx), 7],
  ],
  'an administrator counts unless banned': [
    [tx => hasAdministrator(tx), false],
    [
      tx => tx.run(`UPDATE users SET banned = 0 WHERE id = 'd'`).then(() => hasAdministrator(tx)),
      true,
      ['users d: banned 1 → 0'],
    ],
  ],
  'accounts: made once for an email, counted, changed one at a time': [
    [
      tx => insertUser(tx, eve),
      1,
      [
        '+ users e1 {"id":"e1","email":"e@x","name":"Eve","password_hash":"p","is_builder":1,"is_admin":0,"suspended":0,"banned":0,"identity_verified":0,"chargebacks":0,"connect_status":"not_connected","created_at":9}',
        'tallies users/1: count 4 → 5',
      ],
    ],
    [tx => insertUser(tx, { ...eve, email: 'a@x' }), 0],
    [tx => updateUser(tx, 'a', {}), row => row('users a')],
    [
      tx => updateUser(tx, 'a', { name: 'N', passwordHash: 'P' }).then(idOf),
      'a',
      ['users a: name Ann → N, password_hash a password_hash → P'],
    ],
    [
      tx => updateUser(tx, 'b', { isBuilder: 0, suspended: 1, banned: 1 }).then(idOf),
      'b',
      ['users b: is_builder 1 → 0, suspended 0 → 1, banned 0 → 1'],
    ],
    [
      tx => updateUser(tx, 'c', { identityVerified: 1, chargebacks: 2, connectStatus: 'pending' }),
      row => ({ ...row('users c'), identityVerified: 1, chargebacks: 2, connectStatus: 'pending' }),
      ['users c: identity_verified 0 → 1, chargebacks 0 → 2, connect_status not_connected → pending'],
    ],
    [tx => updateUser(tx, 'z', { name: 'N' }), undefined],
    [tx => countOpenWork(tx, 'a'), 2],
    [tx => countOpenWork(tx, 'b'), 2],
    [tx => countOpenWork(tx, 'c'), 0],
  ],
  'sessions: found by id or token, listed newest first, those alone that are not over': [
    [tx => sessionById(tx, 's1'), row => row('sessions h1')],
    [tx => sessionById(tx, 's9'), undefined],
    [tx => sessionsOf(tx, 'a', { createdAfter: 0, seenAfter: 0 }, 10, 0).then(idsOf), ['s3', 's2', 's4', 's1']],
    [tx => sessionsOf(tx, 'a', { createdAfter: 0, seenAfter: 0 }, 2, 1).then(idsOf), ['s2', 's4']],
    [tx => sessionsOf(tx, 'a', { createdAfter: 10, seenAfter: 29 }, 10, 0).then(idsOf), ['s3', 's2', 's4']],
    [tx => sessionsOf(tx, 'a', { createdAfter: 9, seenAfter: 30 }, 10, 0).then(idsOf), ['s1']],
    [tx => countSessions(tx, 'a', { createdAfter: 0, seenAfter: 0 }), 4],
    [tx => countSessions(tx, 'a', { createdAfter: 10, seenAfter: 0 }), 3],
    [tx => countSessions(tx, 'a', { createdAfter: 0, seenAfter: 30 }), 1],
    [tx => userBySession(tx, 'h1', 9, 39).then(idOf), 'a'],
    [tx => userBySession(tx, 'h5', 9, 39).then(idOf), 'b'],
    [tx => userBySession(tx, 'h1', 10, 39), undefined],
    [tx => userBySession(tx, 'h1', 9, 40), undefined],
    [tx => userBySession(tx, 'h9', 0, 0), undefined],
  ],
  'sessions: each is made, seen and ended alone': [
    [
      tx =>
        insertSession(tx, {
          id: 's9',
          tokenHash: 'h9',
          userId: 'b',
          createdAt: 70,
          address: '2.2.2.2',
          userAgent: 'agent',
        }),
      1,
      [
        '+ sessions h9 {"token_hash":"h9","user_id":"b","created_at":70,"seen_at":70,"id":"s9","address":"2.2.2.2","user_agent":"agent"}',
      ],
    ],
    [tx => touchSession(tx, 'h2', 70, 30), 1, ['sessions h2: seen_at 30 → 70']],
    [tx => touchSession(tx, 'h2', 70, 29), 0],
    [tx => deleteSession(tx, 'h2'), 1, ['− sessions h2']],
    [tx => deleteSession(tx, 'h9'), 0],
    [tx => deleteOtherSessions(tx, 'a', 'h2'), 3, ['− sessions h1', '− sessions h3', '− sessions h4']],
    [tx => deleteSessions(tx, 'a'), 4, ['− sessions h1', '− sessions h2', '− sessions h3', '− sessions h4']],
    [tx => deleteExpiredSessions(tx, 'a', 10, 0), 1, ['− sessions h1']],
    [tx => deleteExpiredSessions(tx, 'a', 15, 0), 2, ['− sessions h1', '− sessions h4']],
    [tx => deleteExpiredSessions(tx, 'a', 0, 30), 3, ['− sessions h2', '− sessions h3', '− sessions h4']],
    [tx => deleteExpiredSessions(tx, 'a', 9, 29), 0],
    [tx => deleteSessionsBeyond(tx, 'a', 1), 3, ['− sessions h2', '− sessions h3', '− sessions h4']],
    [tx => deleteSessionsBeyond(tx, 'a', 2), 2, ['− sessions h2', '− sessions h4']],
    [tx => deleteSessionsBeyond(tx, 'a', 3), 1, ['− sessions h4']],
    [tx => deleteSessionsBeyond(tx, 'a', 4), 0],
  ],
  'keys: found by id or hash, listed oldest first with their last use': [
    [tx => keyById(tx, 'k1'), row => row('api_keys k1')],
    [tx => keyById(tx, 'k9'), undefined],
    [tx => userByKey(tx, 'kh1'), row => ({ ...row('users a'), keyId: 'k1' })],
    [tx => userByKey(tx, 'kh4').then(found => [found?.id, found?.keyId]), ['b', 'k4']],
    [tx => userByKey(tx, 'kh9'), undefined],
    [
      tx => listKeys(tx, 'a', 10, 0),
      row => [{ ...row('api_keys k1'), lastUsedAt: 50 }, row('api_keys k2'), row('api_keys k3')],
    ],
    [tx => listKeys(tx, 'a', 1, 1).then(idsOf), ['k2']],
    [tx => countKeys(tx, 'a'), 3],
  ],
  'keys: each is made, used and removed alone': [
    [
      tx => insertKey(tx, { id: 'k9', userId: 'b', name: 'nine', keyHash: 'kh9', keyPrefix: 'p', createdAt: 70 }),
      1,
      ['+ api_keys k9 {"id":"k9","user_id":"b","name":"nine","key_hash":"kh9","key_prefix":"p","created_at":70}'],
    ],
    [tx => deleteKey(tx, 'k1'), undefined, ['− api_key_uses k1', '− api_keys k1']],
    [tx => deleteKeysNamed(tx, 'a', 'one'), undefined, ['− api_key_uses k1', '− api_keys k1']],
    [tx => deleteKeysNamed(tx, 'a', 'four'), undefined],
    [tx => deleteKeys(tx, 'a'), 3, ['− api_key_uses k1', '− api_keys k1', '− api_keys k2', '− api_keys k3']],
    [tx => touchKey(tx, 'k1', 70, 50), 1, ['api_key_uses k1: last_used_at 50 → 70']],
    [tx => touchKey(tx, 'k1', 70, 49), 0],
    [tx => touchKey(tx, 'k2', 70, 0), 1, ['+ api_key_uses k2 {"key_id":"k2","last_used_at":70}']],
    [tx => touchKey(tx, 'k9', 70, 0), 0],
  ],
  'secrets of agents: the newest agents first, none of a deleted one': [
    [tx => agentsWithSecret(tx, 1), [{ id: 'g_9', slug: 'nine', secret: 'x9' }]],
    [tx => agentsWithSecret(tx, 99).then(idsOf), ['g_9', 'g_8', 'g_3', 'g_2', 'g_1']],
  ],
})
