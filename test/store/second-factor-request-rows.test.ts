// engines: embedded, postgres; process: shared
/** What guards accounts and requests: each function returns and changes the rows that it names, and no neighbour of theirs. */
import type { Tx } from '../../src/store/db.ts'
import { knowsAddress, lockedGuesses, noteAddress, setGuesses } from '../../src/store/tables/accounts/guesses.ts'
import {
  consumeReset,
  countOtherLetters,
  deleteOldResets,
  deleteResets,
  insertReset,
  ownerOfReset,
} from '../../src/store/tables/accounts/password-resets.ts'
import {
  beginSecondFactor,
  consumeRecoveryCode,
  countRecoveryCodes,
  deleteSecondFactor,
  enableSecondFactor,
  insertRecoveryCode,
  secondFactorOf,
  useStep,
} from '../../src/store/tables/accounts/second-factors.ts'
import {
  claimRequest,
  countKept,
  keepResponse,
  releaseAllRequests,
  releaseRequest,
  removeKept,
  requestByKey,
} from '../../src/store/tables/requests/idempotency-keys.ts'
import { countRequest } from '../../src/store/tables/requests/rate-windows.ts'
import { keepFirstSignature, keepSignature, seenSignature } from '../../src/store/tables/requests/seen-signatures.ts'
import { dropAgentSecrets, dropSecondFactors } from '../../src/store/tables/sealed-columns.ts'
import {
  deleteSetting,
  ensureSetting,
  insertSetting,
  setSetting,
  settingNamed,
} from '../../src/store/tables/upkeep/settings.ts'
import { testRows } from './row-effects.ts'

const idOf = (row: { id: unknown } | undefined) => row?.id

const claim = (tx: Tx, method: string, key: string, since: { keptSince: number; realNow: number }) =>
  claimRequest(tx, { userId: 'a', method, path: '/p', key }, { fingerprint: 'f', now: 70, runningUntil: 90, ...since })

testRows('rows of guards', {
  'second factors: begun anew until one is enabled, enabled once, each step used once': [
    [tx => secondFactorOf(tx, 'a'), { userId: 'a', secret: 'sa', lastStep: 5, createdAt: 1, enabledAt: null }],
    [tx => secondFactorOf(tx, 'b'), { userId: 'b', secret: 'sb', lastStep: 7, createdAt: 2, enabledAt: 10 }],
    [tx => secondFactorOf(tx, 'd'), undefined],
    [
      tx => beginSecondFactor(tx, 'a', 's', 70),
      1,
      ['second_factors a: secret sa → s, last_step 5 → 0, created_at 1 → 70'],
    ],
    [tx => beginSecondFactor(tx, 'b', 's', 70), 0],
    [
      tx => beginSecondFactor(tx, 'd', 's', 70),
      1,
      ['+ second_factors d {"user_id":"d","secret":"s","last_step":0,"created_at":70}'],
    ],
    [tx => enableSecondFactor(tx, 'a', 'sa', 9, 70), 1, ['second_factors a: last_step 5 → 9, enabled_at null → 70']],
    [tx => enableSecondFactor(tx, 'a', 'sb', 9, 70), 0],
    [tx => enableSecondFactor(tx, 'b', 'sb', 9, 70), 0],
    [tx => useStep(tx, 'a', 6), 1, ['second_factors a: last_step 5 → 6']],
    [tx => useStep(tx, 'a', 5), 0],
    [tx => useStep(tx, 'b', 7), 0],
    [tx => deleteSecondFactor(tx, 'a'), true, ['− recovery_codes a/c1', '− recovery_codes a/c2', '− second_factors a']],
    [tx => deleteSecondFactor(tx, 'd'), false],
    [tx => insertRecoveryCode(tx, 'b', 'c2'), 1, ['+ recovery_codes b/c2 {"user_id":"b","code_hash":"c2"}']],
    [tx => consumeRecoveryCode(tx, 'a', 'c1'), 1, ['− recovery_codes a/c1']],
    [tx => consumeRecoveryCode(tx, 'b', 'c2'), 0],
    [tx => countRecoveryCodes(tx, 'a'), 2],
  ],
  'addresses: known while young, kept up to a number, those seen last': [
    [tx => knowsAddress(tx, 'a', 'y', 19), true],
    [tx => knowsAddress(tx, 'a', 'y', 20), false],
    [tx => knowsAddress(tx, 'b', 'y', 0), false],
    [tx => knowsAddress(tx, 'b', 'x', 4), true],
    [tx => noteAddress(tx, 'a', 'x', 70, 3), undefined, ['known_addresses a/x: seen_at 10 → 70']],
    [
      tx => noteAddress(tx, 'a', 'w', 70, 3),
      undefined,
      ['+ known_addresses a/w {"user_id":"a","address":"w","seen_at":70}', '− known_addresses a/x'],
    ],
    [
      tx => noteAddress(tx, 'a', 'w', 70, 2),
      undefined,
      [
        '+ known_addresses a/w {"user_id":"a","address":"w","seen_at":70}',
        '− known_addresses a/x',
        '− known_addresses a/z',
      ],
    ],
    [
      tx => noteAddress(tx, 'a', 'y', 70, 1),
      undefined,
      ['known_addresses a/y: seen_at 20 → 70', '− known_addresses a/x', '− known_addresses a/z'],
    ],
    [
      tx => noteAddress(tx, 'c', 'x', 70, 2),
      undefined,
      ['+ known_addresses c/x {"user_id":"c","address":"x","seen_at":70}'],
    ],
  ],
  'settings: read, written and removed by name': [
    [tx => settingNamed(tx, 'one'), '1'],
    [tx => settingNamed(tx, 'three'), undefined],
    [tx => insertSetting(tx, 'three', '3'), 1, ['+ settings three {"name":"three","value":"3"}']],
    [tx => ensureSetting(tx, 'three', '3'), 1, ['+ settings three {"name":"three","value":"3"}']],
    [tx => ensureSetting(tx, 'one', '3'), 0],
    [tx => setSetting(tx, 'three', '3'), 1, ['+ settings three {"name":"three","value":"3"}']],
    [tx => setSetting(tx, 'one', '3'), 1, ['settings one: value 1 → 3']],
    [tx => deleteSetting(tx, 'one'), 1, ['− settings one']],
  ],
  'tokens that reset a password: found and used while young': [
    [
      tx => insertReset(tx, 't9', 'b', 'm9', 70),
      1,
      ['+ password_resets t9 {"token_hash":"t9","user_id":"b","created_at":70,"mail_id":"m9"}'],
    ],
    [tx => countOtherLetters(tx, 'a', 'm1'), 1],
    [tx => countOtherLetters(tx, 'a', 'm2'), 1],
    [tx => countOtherLetters(tx, 'a', 'm9'), 2],
    [tx => ownerOfReset(tx, 't1', 9).then(idOf), 'a'],
    [tx => ownerOfReset(tx, 't1', 10), undefined],
    [tx => ownerOfReset(tx, 't4', 0).then(idOf), 'b'],
    [tx => ownerOfReset(tx, 't9', 0), undefined],
    [tx => consumeReset(tx, 't1', 9), 'a', ['− password_resets t1']],
    [tx => consumeReset(tx, 't1', 10), undefined],
    [tx => consumeReset(tx, 't4', 0), 'b', ['− password_resets t4']],
    [tx => deleteResets(tx, 'a'), 3, ['− password_resets t1', '− password_resets t2', '− password_resets t3']],
    [tx => deleteOldResets(tx, 'a', 10), 1, ['− password_resets t1']],
    [tx => deleteOldResets(tx, 'a', 20), 3, ['− password_resets t1', '− password_resets t2', '− password_resets t3']],
    [tx => deleteOldResets(tx, 'a', 9), 0],
  ],
  'guesses and requests: counted by subject and by address': [
    [tx => lockedGuesses(tx, 'g1'), { count: 2, nextAt: 5, endsAt: 10 }],
    [
      tx => lockedGuesses(tx, 'g9'),
      { count: 0, nextAt: 0, endsAt: 0 },
      ['+ guesses g9 {"subject":"g9","count":0,"next_at":0,"ends_at":0}'],
    ],
    [
      tx => setGuesses(tx, 'g1', { count: 5, nextAt: 60, endsAt: 70 }),
      1,
      ['guesses g1: count 2 → 5, next_at 5 → 60, ends_at 10 → 70'],
    ],
    [
      tx => countRequest(tx, { category: 'read', address: 'i1', now: 99, endsAt: 200, latest: 100 }),
      { count: 4, endsAt: 100 },
      ['rate_windows read/i1: count 3 → 4'],
    ],
    [
      tx => countRequest(tx, { category: 'read', address: 'i1', now: 100, endsAt: 200, latest: 250 }),
      { count: 1, endsAt: 200 },
      ['rate_windows read/i1: count 3 → 1, ends_at 100 → 200'],
    ],
    [
      tx => countRequest(tx, { category: 'read', address: 'i1', now: 50, endsAt: 200, latest: 99 }),
      { count: 1, endsAt: 200 },
      ['rate_windows read/i1: count 3 → 1, ends_at 100 → 200'],
    ],
    [
      tx => countRequest(tx, { category: 'read', address: 'i9', now: 50, endsAt: 200, latest: 250 }),
      { count: 1, endsAt: 200 },
      ['+ rate_windows read/i9 {"category":"read","address":"i9","count":1,"ends_at":200}'],
    ],
  ],
  "requests with a key: taken once, until the answer is old or the request can't run any more": [
    [
      tx => claim(tx, 'GET', 'k1', { keptSince: 0, realNow: 0 }),
      1,
      [
        '+ idempotency_keys a/GET//p/k1 {"user_id":"a","method":"GET","path":"/p","key":"k1","fingerprint":"f","running_until":90,"created_at":70}',
      ],
    ],
    [tx => claim(tx, 'POST', 'k1', { keptSince: 9, realNow: 99 }), 0],
    [
      tx => claim(tx, 'POST', 'k1', { keptSince: 10, realNow: 0 }),
      1,
      [
        'idempotency_keys a/POST//p/k1: fingerprint f1 → f, status 200 → null, answer yes → null, running_until 50 → 90, created_at 10 → 70, kept_to 20 → null',
      ],
    ],
    [tx => claim(tx, 'POST', 'k2', { keptSince: 99, realNow: 49 }), 0],
    [
      tx => claim(tx, 'POST', 'k2', { keptSince: 0, realNow: 50 }),
      1,
      ['idempotency_keys a/POST//p/k2: fingerprint f2 → f, running_until 50 → 90, created_at 20 → 70'],
    ],
    [
      tx => requestByKey(tx, { userId: 'a', method: 'POST', path: '/p', key: 'k1' }),
      { fingerprint: 'f1', status: 200, answer: 'yes' },
    ],
    [
      tx => requestByKey(tx, { userId: 'a', method: 'POST', path: '/q', key: 'k2' }),
      { fingerprint: 'f3', status: null, answer: null },
    ],
    [
      tx => requestByKey(tx, { userId: 'a', method: 'PUT', path: '/p', key: 'k2' }),
      { fingerprint: 'f4', status: null, answer: null },
    ],
    [
      tx => requestByKey(tx, { userId: 'b', method: 'POST', path: '/p', key: 'k2' }),
      { fingerprint: 'f5', status: null, answer: null },
    ],
    [
      tx => requestByKey(tx, { userId: 'b', method: 'POST', path: '/p', key: 'k3' }),
      { fingerprint: 'f6', status: 201, answer: null },
    ],
    [
      tx =>
        keepResponse(
          tx,
          { userId: 'a', method: 'POST', path: '/p', key: 'k2' },
          { status: 201, answer: 'body', keptTo: 9 },
        ),
      1,
      ['idempotency_keys a/POST//p/k2: status null → 201, answer null → body, kept_to null → 9'],
    ],
    [
      tx =>
        keepResponse(
          tx,
          { userId: 'b', method: 'POST', path: '/p', key: 'k2' },
          { status: 204, answer: null, keptTo: 9 },
        ),
      1,
      ['idempotency_keys b/POST//p/k2: status null → 204, kept_to null → 9'],
    ],
    [
      tx =>
        keepResponse(
          tx,
          { userId: 'a', method: 'POST', path: '/p', key: 'k1' },
          { status: 201, answer: 'body', keptTo: 9 },
        ),
      0,
    ],
    [tx => countKept(tx, 'a', 10), 40, ['idempotency_usage a: bytes 30 → 40']],
    [tx => countKept(tx, 'c', 10), 10, ['+ idempotency_usage c {"user_id":"c","bytes":10}']],
    [tx => removeKept(tx, 'a', 19), 0],
    [tx => removeKept(tx, 'a', 20), 1, ['− idempotency_keys a/POST//p/k1']],
    [tx => removeKept(tx, 'b', 10), 1, ['− idempotency_keys b/POST//p/k3']],
    [
      tx => releaseRequest(tx, { userId: 'a', method: 'POST', path: '/p', key: 'k2' }),
      1,
      ['− idempotency_keys a/POST//p/k2'],
    ],
    [
      tx => releaseRequest(tx, { userId: 'a', method: 'PUT', path: '/p', key: 'k2' }),
      1,
      ['− idempotency_keys a/PUT//p/k2'],
    ],
    [tx => releaseRequest(tx, { userId: 'a', method: 'POST', path: '/p', key: 'k1' }), 0],
    [
      tx => releaseAllRequests(tx),
      4,
      [
        '− idempotency_keys a/POST//p/k2',
        '− idempotency_keys a/POST//q/k2',
        '− idempotency_keys a/PUT//p/k2',
        '− idempotency_keys b/POST//p/k2',
      ],
    ],
  ],
  'signatures: kept once, the first answer stays': [
    [tx => seenSignature(tx, 'g1'), { signature: 'g1', taskId: 't1', status: 200, answer: 'yes', seenAt: 10 }],
    [tx => seenSignature(tx, 'g9'), undefined],
    [
      tx => keepSignature(tx, { signature: 'g9', taskId: 't1', status: 200, answer: 'ok', seenAt: 70 }),
      [true],
      ['+ seen_signatures g9 {"signature":"g9","task_id":"t1","status":200,"answer":"ok","seen_at":70}'],
    ],
    [
      tx => keepFirstSignature(tx, { signature: 'g8', taskId: 't2', status: 400, answer: 'no', seenAt: 70 }),
      1,
      ['+ seen_signatures g8 {"signature":"g8","task_id":"t2","status":400,"answer":"no","seen_at":70}'],
    ],
    [tx => keepFirstSignature(tx, { signature: 'g1', taskId: 't2', status: 400, answer: 'no', seenAt: 70 }), 0],
  ],
  'what is sealed with a key goes with it': [
    [
      tx => dropAgentSecrets(tx),
      [
        { id: 'g_1', name: 'a name', builderId: 'a' },
        { id: 'g_2', name: 'a name', builderId: 'a' },
        { id: 'g_3', name: 'a name', builderId: 'b' },
        { id: 'g_7', name: 'a name', builderId: 'b' },
        { id: 'g_8', name: 'a name', builderId: 'd' },
        { id: 'g_9', name: 'a name', builderId: 'b' },
      ],
      [
        'agents g_1: secret x1 → null, last_pass_at 100000000 → null',
        'agents g_2: secret x1 → null, old_secret o2 → null, last_pass_at 100000000 → null',
        'agents g_3: secret x3 → null, last_pass_at 99999999 → null',
        'agents g_4: old_secret o4 → null, last_pass_at 100000000 → null',
        'agents g_7: secret x7 → null, last_pass_at 100000000 → null',
        'agents g_8: secret x8 → null, last_pass_at 100000000 → null',
        'agents g_9: secret x9 → null, last_pass_at 100000000 → null',
      ],
    ],
    [
      tx => dropSecondFactors(tx),
      3,
      [
        '− recovery_codes a/c1',
        '− recovery_codes a/c2',
        '− recovery_codes b/c1',
        '− second_factors a',
        '− second_factors b',
        '− second_factors c',
      ],
    ],
  ],
})
