/** wallets, API keys, budget authorizations, requestors. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the source
import type { Row } from './row.ts'

const limits = 'api/limits.ts'
const caps = 'market/budgets/budgets: caps are at least 200 each'
const tiers = 'market/accounts/requestors: trust tiers: each by its rule'
const wallet = 'market/wallet/wallet: a wallet shows'

export const holdings: readonly Row[] = [
  ['Wallet: balance', wallet, 'market/wallet/wallet.ts', 'balance: available + clearing', 'balance: available'],
  ['Wallet: heldBalance', wallet, 'market/wallet/wallet.ts', 'heldBalance: held', 'heldBalance: held + clearing'],
  [
    'Wallet: currency',
    wallet,
    'market/wallet/wallet.ts',
    'heldBalance: held, currency: config.currency',
    "heldBalance: held, currency: ''",
  ],
  [
    'Wallet: connectStatus',
    wallet,
    'market/wallet/wallet.ts',
    'connectStatus: actor.user.connectStatus',
    "connectStatus: 'pending'",
  ],
  [
    'API key: name of 1 character at least',
    'api/limits: the name of a key',
    limits,
    'name: [1, 100] }',
    'name: [0, 100] }',
  ],
  [
    'API key: keyInfo has id, name, keyPrefix of 12 characters, createdAt',
    'market/accounts/accounts: keys: ten',
    limits,
    'keyPrefix: 12',
    'keyPrefix: 11',
  ],
  [
    'API key: starts with svc_',
    'market/accounts/accounts: keys: ten',
    'market/accounts/keys.ts',
    '`svc_${world',
    '`key_${world',
  ],
  [
    'API key: shown whole at its creation alone',
    ['client/client: everything that can be read without an id', 'market/accounts/accounts: keys: ten, shown once'],
    'market/accounts/keys.ts',
    '...keyInfo(row), lastUsedAt',
    '...keyInfo(row), key: row.keyHash, lastUsedAt',
  ],
  [
    'Budget authorization: agentId is needed, and stays',
    'market/budgets/budgets: update takes any part',
    'market/budgets/budgets.ts',
    'if (body.agentId !== undefined && body.agentId !== row.agentId)',
    'if (false)',
  ],
  [
    'Budget authorization: maxPerTask of 200 at least',
    caps,
    'api/endpoints/budgets.ts',
    'maxPerTask: price()',
    'maxPerTask: price().or(z.literal(199))',
  ],
  [
    'Budget authorization: maxDaily of 200 at least',
    caps,
    'api/endpoints/budgets.ts',
    'maxDaily: price()',
    'maxDaily: price().or(z.literal(199))',
  ],
  [
    'Budget authorization: maxMonthly of 200 at least',
    'market/budgets/budgets: update takes any part',
    'api/endpoints/budgets.ts',
    'maxMonthly: price()',
    'maxMonthly: price().or(z.literal(199))',
  ],
  [
    'Budget authorization: allowedCategories are categories',
    caps,
    'market/budgets/budgets.ts',
    'if (unknown.length > 0)',
    'if (unknown.length > 1)',
  ],
  [
    'Budget authorization: maxPerTask <= maxDaily',
    caps,
    'market/budgets/budgets.ts',
    'if (maxPerTask > maxDaily)',
    'if (maxPerTask > maxDaily + 1)',
  ],
  [
    'Budget authorization: maxDaily <= maxMonthly',
    caps,
    'market/budgets/budgets.ts',
    'if (maxDaily > maxMonthly)',
    'if (maxDaily > maxMonthly + 1)',
  ],
  [
    'Budget authorization: one for each agent',
    'market/budgets/budgets: create answers 201 and the whole record; a second one',
    'market/budgets/budgets.ts',
    'if (inserted === 0) throw',
    'if (inserted < 0) throw',
  ],
  [
    'Budget authorization: a changed limit is held against the stored others',
    'market/budgets/budgets: update takes any part',
    'market/budgets/budgets.ts',
    '  checkCaps(caps)\n',
    '',
  ],
  [
    'Requestor: id of the buyer',
    'market/tasks/task-states: draft: submit by the buyer',
    'market/accounts/requestors.ts',
    '{ id: buyerId, type',
    '{ id: buyerId.slice(1), type',
  ],
  [
    'Requestor: type user',
    'market/tasks/task-states: draft: submit by the buyer',
    'market/accounts/requestors.ts',
    "type: 'user'",
    "type: 'agent'",
  ],
  [
    'Requestor: trustTier',
    'market/tasks/task-states: draft: submit by the buyer',
    'market/accounts/requestors.ts',
    'const { trustTier } = payerRecord(payer, now)',
    "const trustTier = 'trusted' as ReturnType<typeof payerRecord>['trustTier']; void [payer, now]",
  ],
  ['Trust tier: trusted after 30 days', tiers, limits, 'trustedAfterMs: 30 * day', 'trustedAfterMs: 31 * day'],
  [
    'Trust tier: new_verified',
    tiers,
    'market/accounts/account-record.ts',
    "? 'new_verified' : 'new_unverified'",
    "? 'trusted' : 'new_unverified'",
  ],
  [
    'Trust tier: new_unverified',
    tiers,
    'market/accounts/account-record.ts',
    "? 'new_verified' : 'new_unverified'",
    "? 'new_verified' : 'trusted'",
  ],
  [
    'Trust tier: chargeback_risk',
    tiers,
    'market/accounts/account-record.ts',
    'user.chargebacks > 0',
    'user.chargebacks > 1',
  ],
  ['Trust tier: suspended', tiers, 'market/accounts/account-record.ts', "if (user.suspended) return 'suspended'", ''],
  ['Trust tier: banned', tiers, 'market/accounts/account-record.ts', "if (user.banned) return 'banned'", ''],
]
