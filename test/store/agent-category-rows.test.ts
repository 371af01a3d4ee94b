// engines: embedded, postgres; process: shared
/** Agents, their words, categories and samples: each function returns and changes the rows that it names, and no neighbour of theirs. */
import { durations } from '../../src/api/limits.ts'
import {
  agentById,
  agentByIdOrSlug,
  agentsByStatus,
  agentsOfBuilder,
  countTestable,
  insertAgent,
  leastRecentlyTested,
  listedAgentById,
  listedStandings,
  publicAgents,
  publicCounts,
  slugTaken,
  softDelete,
  standingOfListed,
  updateAgentRow,
  updateTested,
} from '../../src/store/tables/agents/agents.ts'
import {
  allAgentCategories,
  allCategories,
  categoryById,
  categoryIdsOf,
  deleteUnusedCategory,
  insertCategory,
  setCategories,
  updateCategoryRow,
} from '../../src/store/tables/agents/categories.ts'
import { agentsWithTerm, clearTerms, setTerms } from '../../src/store/tables/agents/search-words.ts'
import { hiringTermsOf, lockedHiringTerms } from '../../src/store/tables/tasks/hiring-terms.ts'
import { countForAgent } from '../../src/store/tables/tasks/tasks.ts'
import { testRows } from './row-effects.ts'

const idOf = (row: { id: unknown } | undefined) => row?.id
const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => id)
const pageOf = ({ rows, total }: { rows: readonly { id: unknown }[]; total: number }) => [idsOf(rows), total]
const STANDING = 'id builderId basePrice status completedTasks lastPassAt createdAt'
const all = { prefixes: [], categoryId: null, sort: 'popular', page: 1, limit: 10 } as const
/** When a pass at 100,000,000 still counts, for the last time. */
const FRESH = 100_000_000 + durations.freshMs

const newAgent = {
  id: 'g_a',
  slug: 'ten',
  builderId: 'b',
  name: 'n',
  tagline: 'l',
  description: 'd',
  pricingModel: 'fixed' as const,
  basePrice: 300,
  turnaroundHours: 2,
  maxRevisions: null,
  tags: '[]',
  webhookUrl: null,
  status: 'draft' as const,
  createdAt: 70,
  updatedAt: 70,
}

testRows('rows of agents', {
  'agents: found by id or slug': [
    [tx => agentById(tx, 'g_1'), row => row('agents g_1')],
    [tx => agentById(tx, 'g_0'), undefined],
    [
      tx =>
        listedAgentById(tx, 'g_8').then(found => [
          found?.id,
          found?.builderName,
          found?.builderSuspended,
          found?.builderBanned,
        ]),
      ['g_8', 'Dan', 1, 1],
    ],
    [tx => agentByIdOrSlug(tx, 'g_2').then(idOf), 'g_2'],
    [tx => agentByIdOrSlug(tx, 'two').then(idOf), 'g_2'],
    [tx => agentByIdOrSlug(tx, 'none'), undefined],
    [tx => slugTaken(tx, 'two'), true],
    [tx => slugTaken(tx, 'none'), false],
    [
      tx => hiringTermsOf(tx, 'g_3'),
      row => ({
        ...row('agents g_3', 'id builderId status lastPassAt failedAt webhookUrl secret'),
        suspended: 0,
        banned: 0,
      }),
    ],
    [tx => hiringTermsOf(tx, 'g_8').then(found => [found?.id, found?.suspended, found?.banned]), ['g_8', 1, 1]],
    [tx => lockedHiringTerms(tx, 't4').then(idOf), 'g_3'],
    [tx => lockedHiringTerms(tx, 't0'), undefined],
  ],
  'agents: made once for a slug, changed one at a time': [
    [
      tx => insertAgent(tx, newAgent),
      1,
      [
        '+ agents g_a {"id":"g_a","slug":"ten","builder_id":"b","name":"n","tagline":"l","description":"d","pricing_model":"fixed","base_price":300,"turnaround_hours":2,"tags":"[]","status":"draft","completed_tasks":0,"rating_sum":0,"rating_count":0,"rated1":0,"rated2":0,"rated3":0,"rated4":0,"rated5":0,"created_at":70,"updated_at":70}',
        'tallies agents/1: count 7 → 8',
      ],
    ],
    [tx => insertAgent(tx, { ...newAgent, slug: 'one' }), 0],
    [
      tx => updateAgentRow(tx, 'g_1', { name: 'new', webhookUrl: null }),
      1,
      ['agents g_1: name a name → new, webhook_url w1 → null'],
    ],
    [tx => updateAgentRow(tx, 'g_1', { name: 'new' }, 'active'), 1, ['agents g_1: name a name → new']],
    [tx => updateAgentRow(tx, 'g_1', { name: 'new' }, 'draft'), 0],
    [tx => softDelete(tx, 'g_1', 70), 0],
    [
      tx => softDelete(tx, 'g_2', 70),
      1,
      [
        '+ tallies agents/2 {"name":"agents","slot":2,"count":-1}',
        'agents g_2: deleted_at null → 70, updated_at 1 → 70',
        '− agent_categories g_2/cat1',
        '− agent_categories g_2/cat2',
        '− agent_terms abcd/g_2',
        '− agent_terms abce/g_2',
      ],
    ],
    [tx => softDelete(tx, 'g_3', 70), 0],
    [tx => softDelete(tx, 'g_9', 70), 0],
    [tx => softDelete(tx, 'g_7', 70), 0],
    [
      tx =>
        tx
          .run(`UPDATE work_sums SET held = 0, in_dispute = 0 WHERE whose = 'g_1'`)
          .then(() => softDelete(tx, 'g_1', 70)),
      1,
      [
        'agents g_1: deleted_at null → 70, updated_at 1 → 70',
        'tallies agents/1: count 7 → 6',
        'work_sums g_1/1: held 300 → 0',
        'work_sums g_1/2: held 400 → 0',
        '− agent_categories g_1/cat1',
        '− agent_categories g_1/cat2',
        '− agent_terms ab/g_1',
        '− agent_terms abc/g_1',
        '− agent_terms abcd/g_1',
      ],
    ],
    [
      tx => updateTested(tx, { id: 'g_1', webhookUrl: 'w1', secret: 'x1' }, { testedAt: 70, lastPassAt: 71 }),
      1,
      ['agents g_1: last_pass_at 100000000 → 71, tested_at 100 → 70'],
    ],
    [
      tx => updateTested(tx, { id: 'g_1', webhookUrl: 'w1', secret: 'x1' }, { testedAt: 70, failedAt: 72 }),
      1,
      ['agents g_1: failed_at null → 72, tested_at 100 → 70'],
    ],
    [tx => updateTested(tx, { id: 'g_1', webhookUrl: 'w2', secret: 'x1' }, { testedAt: 70 }), 0],
    [tx => updateTested(tx, { id: 'g_1', webhookUrl: 'w1', secret: 'x2' }, { testedAt: 70 }), 0],
    [
      tx => updateTested(tx, { id: 'g_5', webhookUrl: null, secret: null }, { testedAt: 70 }),
      1,
      ['agents g_5: tested_at null → 70'],
    ],
    [
      tx => countForAgent(tx, 'g_1', { completed: 1, rating: 3 }),
      [true],
      ['agents g_1: completed_tasks 5 → 6, rating_sum 0 → 3, rating_count 0 → 1, rated3 0 → 1'],
    ],
    [
      tx => countForAgent(tx, 'g_1', { completed: 0, rating: -5 }),
      [true],
      ['agents g_1: rating_sum 0 → -5, rating_count 0 → -1, rated5 0 → -1'],
    ],
    [tx => countForAgent(tx, 'g_1', { completed: -1, rating: 0 }), [true], ['agents g_1: completed_tasks 5 → 4']],
  ],
  'agents: lists in their order, page by page': [
    [tx => agentsOfBuilder(tx, 'b', { page: 1, limit: 10 }).then(pageOf), [['g_9', 'g_6', 'g_5', 'g_4', 'g_3'], 5]],
    [tx => agentsOfBuilder(tx, 'b', { page: 2, limit: 2 }).then(pageOf), [['g_5', 'g_4'], 5]],
    [tx => agentsOfBuilder(tx, 'b', { page: 2, limit: 5 }), { rows: [], total: 5 }],
    [tx => agentsByStatus(tx, undefined, { page: 1, limit: 3 }).then(pageOf), [['g_9', 'g_8', 'g_6'], 7]],
    [tx => agentsByStatus(tx, 'active', { page: 1, limit: 10 }).then(pageOf), [['g_9', 'g_8', 'g_3', 'g_1'], 4]],
    [tx => agentsByStatus(tx, 'active', { page: 2, limit: 2 }).then(pageOf), [['g_3', 'g_1'], 4]],
    [tx => listedStandings(tx).then(idsOf), ['g_1', 'g_2', 'g_3', 'g_8', 'g_9']],
    [
      tx => listedStandings(tx).then(rows => rows[0]),
      row => ({ ...row('agents g_1', STANDING), builderSuspended: 0, builderBanned: 0 }),
    ],
    [
      tx => standingOfListed(tx, 'g_8'),
      row => ({ ...row('agents g_8', STANDING), builderSuspended: 1, builderBanned: 1 }),
    ],
    [tx => standingOfListed(tx, 'g_0'), undefined],
    [tx => leastRecentlyTested(tx, 70, 10), ['g_6', 'g_2', 'g_3', 'g_8']],
    [tx => leastRecentlyTested(tx, 71, 2), ['g_6', 'g_2']],
    [tx => countTestable(tx), 6],
    [
      tx => publicCounts(tx, FRESH),
      [
        ['cat1', 2],
        ['cat2', 2],
      ],
    ],
    [tx => publicCounts(tx, FRESH + 1), []],
  ],
  'public agents: who passed lately, did not fail since, and whose builder is in good standing': [
    [tx => publicAgents(tx, FRESH, all).then(pageOf), [['g_2', 'g_1'], 2]],
    [tx => publicAgents(tx, FRESH - 1, all).then(pageOf), [['g_3', 'g_2', 'g_1'], 3]],
    [
      tx => publicAgents(tx, FRESH - 1, { ...all, sort: 'newest' }).then(page => idsOf(page.rows)),
      ['g_3', 'g_2', 'g_1'],
    ],
    [
      tx => publicAgents(tx, FRESH - 1, { ...all, sort: 'price_asc' }).then(page => idsOf(page.rows)),
      ['g_3', 'g_1', 'g_2'],
    ],
    [
      tx => publicAgents(tx, FRESH - 1, { ...all, sort: 'price_desc' }).then(page => idsOf(page.rows)),
      ['g_2', 'g_1', 'g_3'],
    ],
    [tx => publicAgents(tx, FRESH - 1, { ...all, page: 2, limit: 1 }).then(pageOf), [['g_2'], 3]],
    [tx => publicAgents(tx, FRESH - 1, { ...all, prefixes: ['ab'] }).then(pageOf), [['g_1'], 1]],
    [
      tx => publicAgents(tx, FRESH - 1, { ...all, prefixes: ['abcd', 'abce'], categoryId: 'cat1' }).then(pageOf),
      [['g_2'], 1],
    ],
    [tx => publicAgents(tx, FRESH - 1, { ...all, categoryId: 'cat2' }).then(pageOf), [['g_3', 'g_2', 'g_1'], 3]],
    [tx => publicAgents(tx, FRESH - 1, { ...all, prefixes: ['b'], categoryId: 'cat1' }), { rows: [], total: 0 }],
    [
      tx =>
        tx
          .run(`UPDATE users SET suspended = 1 WHERE id = 'a'`)
          .then(() => publicAgents(tx, FRESH - 1, all))
          .then(pageOf),
      [['g_3'], 1],
      ['users a: suspended 0 → 1'],
    ],
    [
      tx =>
        tx
          .run(`UPDATE users SET banned = 1 WHERE id = 'a'`)
          .then(() => publicAgents(tx, FRESH - 1, all))
          .then(pageOf),
      [['g_3'], 1],
      ['users a: banned 0 → 1'],
    ],
  ],
  'words that agents are found by': [
    [tx => agentsWithTerm(tx, 'ab'), ['g_1']],
    [tx => agentsWithTerm(tx, 'abcd'), ['g_1', 'g_2']],
    [tx => agentsWithTerm(tx, 'abce'), ['g_2']],
    [tx => agentsWithTerm(tx, 'abcf'), []],
    [tx => clearTerms(tx, 'g_1'), 3, ['− agent_terms ab/g_1', '− agent_terms abc/g_1', '− agent_terms abcd/g_1']],
    [
      tx => setTerms(tx, 'g_1', ['abc', 'new']),
      undefined,
      ['+ agent_terms new/g_1 {"term":"new","agent_id":"g_1"}', '− agent_terms ab/g_1', '− agent_terms abcd/g_1'],
    ],
    [
      tx => setTerms(tx, 'g_1', []),
      undefined,
      ['− agent_terms ab/g_1', '− agent_terms abc/g_1', '− agent_terms abcd/g_1'],
    ],
    [
      tx =>
        setTerms(
          tx,
          'g_3',
          Array.from({ length: 65 }, (_, i) => `w${i}`),
        )
          .then(async () => (await tx.all(`SELECT term FROM agent_terms WHERE agent_id = 'g_3'`)).length)
          .then(count => tx.run(`DELETE FROM agent_terms WHERE agent_id = 'g_3'`).then(() => count)),
      65,
      ['− agent_terms b/g_3'],
    ],
  ],
  "categories: unused ones go, an agent's stand in their order": [
    [tx => allCategories(tx), row => ['cat1', 'cat2', 'cat3', 'cat4'].map(id => row(`categories ${id}`))],
    [tx => categoryById(tx, 'cat2'), row => row('categories cat2')],
    [tx => categoryById(tx, 'cat9'), undefined],
    [
      tx => insertCategory(tx, { id: 'cat9', name: 'Nine', slug: 'nine', description: 'd' }),
      1,
      ['+ categories cat9 {"id":"cat9","name":"Nine","slug":"nine","description":"d"}'],
    ],
    [tx => insertCategory(tx, { id: 'cat9', name: 'One', slug: 'nine', description: 'd' }), 0],
    [tx => insertCategory(tx, { id: 'cat9', name: 'Nine', slug: 'one', description: 'd' }), 0],
    [
      tx => updateCategoryRow(tx, { id: 'cat2', name: 'New', slug: 'new', description: 'changed' }),
      1,
      ['categories cat2: name Two → New, slug two → new, description a description → changed'],
    ],
    [tx => deleteUnusedCategory(tx, 'cat1'), 0],
    [tx => deleteUnusedCategory(tx, 'cat3'), 0],
    [tx => deleteUnusedCategory(tx, 'cat4'), 1, ['− categories cat4']],
    [
      tx =>
        tx.run(`DELETE FROM budget_categories WHERE category_id = 'cat1'`).then(() => deleteUnusedCategory(tx, 'cat1')),
      0,
      ['− budget_categories v1/cat1', '− budget_categories v2/cat1'],
    ],
    [
      tx => categoryIdsOf(tx, ['g_2', 'g_1', 'g_4']),
      [
        ['g_2', ['cat1', 'cat2']],
        ['g_1', ['cat2', 'cat1']],
        ['g_4', []],
      ],
    ],
    [tx => categoryIdsOf(tx, []), []],
    [
      tx => allAgentCategories(tx),
      [
        { agentId: 'g_1', categoryId: 'cat2' },
        { agentId: 'g_1', categoryId: 'cat1' },
        { agentId: 'g_2', categoryId: 'cat1' },
        { agentId: 'g_2', categoryId: 'cat2' },
        { agentId: 'g_3', categoryId: 'cat2' },
        { agentId: 'g_8', categoryId: 'cat1' },
      ],
    ],
    [
      tx => setCategories(tx, 'g_1', ['cat3', 'cat2']),
      undefined,
      [
        '+ agent_categories g_1/cat3 {"agent_id":"g_1","category_id":"cat3","position":0}',
        'agent_categories g_1/cat2: position 0 → 1',
        '− agent_categories g_1/cat1',
      ],
    ],
  ],
})
