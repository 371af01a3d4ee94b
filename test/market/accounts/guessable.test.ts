// engines: embedded; process: shared
/** What makes a password one of the first guesses, at each of its bounds. Source: A-196. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guessable } from '../../../src/market/accounts/common-passwords.ts'

const owner = { email: 'anna.quill@lodge.example', name: 'Wim Quill' }
const said = async (password: string, baseUrl = 'https://souk.example:8443') =>
  /^(?:is )?(\w+)/.exec((await guessable(password, owner, { baseUrl })) ?? '')?.[1] ?? null

const cases: [password: string, first: 'repeats' | 'one' | 'little' | null][] = [
  // Fewer than four different characters, in any case.
  ['xyxyxyxyxy', 'repeats'],
  ['xqzxqzxqzx', 'repeats'],
  ['XxQqZzXxQq', 'repeats'],
  ['xqzwxqzwxq', null],
  // Counting by one, up or down.
  ['cdefghijkl', 'repeats'],
  ['lkjihgfedc', 'repeats'],
  ['ｃｄｅｆｇｈｉｊｋｌ', 'repeats'],
  ['cegikmoqsuw', null],
  ['cdefghijkk', null],
  ['dcefghijkl', null],
  // A common word with up to eight signs around it; of words with fewer than four letters none.
  ['monkey', 'one'],
  ['MONKEY', 'one'],
  ['monkey7419', 'one'],
  ['+-monkey741952', 'one'],
  ['+-monkey7419528', null],
  ['+love741952', 'one'],
  ['741952-sex', null],
  ['mon7419key52', null],
  // What anyone knows, and less than six letters or digits beside it.
  ['anna.quill@lodge.example', 'little'],
  ['annaquill9', 'little'],
  ['quill+74195', 'little'],
  ['quill741952', null],
  ['Quill-+-+-+74195', 'little'],
  ['lodgeQUILL', 'little'],
  ['souk.example', 'little'],
  ['souk741958', null],
  ['souk74195!', 'little'],
  ['agent-marketplace', 'little'],
  ['marketplace7419', 'little'],
  ['wim7419528', null],
  ['wimwimwim7q', null],
]

for (const [password, first] of cases) {
  test(`${password}: ${first === null ? 'taken' : `refused, as it ${first === 'repeats' ? '' : 'is '}${first} …`}`, async () => {
    assert.is(await said(password), first)
  })
}

test('each reason is told with what to do', async () => {
  const whole = (password: string) => guessable(password, owner, { baseUrl: 'https://souk.example' })
  assert.is(
    await whole('xyxyxyxyxy'),
    'repeats a few characters or counts them up; mix more of them, or take several words',
  )
  assert.is(
    await whole('monkey7419'),
    'is one of those that are guessed first; take several words that do not belong together',
  )
  assert.is(
    await whole('annaquill9'),
    'is little more than your own name or email, or that of the marketplace; add words that nobody would expect',
  )
})

test('an address of the marketplace that is none keeps nobody from a password', async () => {
  assert.is(await said('correct horse battery', 'not an address'), null)
  assert.is(await said('annaquill9', ''), 'little')
})

test.run()
