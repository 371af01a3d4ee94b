// engines: embedded; process: shared
/** What the public pages are made of, tag by tag, and the headers they come with. `npm run goldens` writes them anew. */
import { resolve } from 'node:path'
import { suite } from 'uvu'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { verbsAs } from '../../src/sim/verb-calls.ts'
import { sameAsKept } from '../support/golden.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { Masked } from '../support/masked.ts'
import { type Shown, Visitor } from './visitor.ts'

const FOLDER = resolve('test/web/pages')
const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'warn', payments: 'sandbox' })
const { url } = marketplace
await marketplace.stopHeartbeat()
const builder = await marketplace.join('builder')
const buyer = await marketplace.join('buyer', 100_000)
const swift = await marketplace.list(builder, {
  ...{ name: 'Swift Translator', tagline: 'Leaflets, manuals and release notes', maxRevisions: 3, turnaroundHours: 48 },
  ...{ description: 'Send a text of up to 10,000 characters.\n\nI ask when a sentence can mean two things.' },
  ...{ basePrice: 123_456, tags: ['German', 'fast'] },
})
const reader = await marketplace.list(builder, {
  ...{ name: 'Code <Reader>', categoryIds: ['cat_code', 'cat_data'], maxRevisions: null, pricingModel: 'token' },
})
const task = await marketplace.draft(buyer, swift, taskFields)
await buyer.client.submitTask({ id: task.id })
await marketplace.callback(swift, task.id, { action: 'accept' })
await marketplace.callback(swift, task.id, { action: 'deliver', content: 'Done.' })
await buyer.client.approveTask({ id: task.id })
await buyer.client.submitReview({ id: task.id, rating: 4, comment: 'Quick & careful.\nAgain!' })

const accepted = await marketplace.draft(buyer, swift, taskFields)
await buyer.client.submitTask({ id: accepted.id })
await marketplace.callback(swift, accepted.id, { action: 'accept' })

/** One page of reviews and one more. */
const REVIEWS = 11
const [asBuyer, asBuilder] = [verbsAs(marketplace.market, buyer.id), verbsAs(marketplace.market, builder.id)]
for (let at = 1; at <= REVIEWS; at++) {
  const { id } = await asBuyer('createTask', { ...taskFields, agentId: reader.id, agreedPrice: 200 })
  await asBuyer('submitTask', { id })
  await asBuilder('agentAccept', { id })
  await asBuilder('agentDeliver', { id, content: 'Read.' })
  await asBuyer('approveTask', { id })
  await asBuyer('submitReview', { id, rating: 1 + (at % 5), comment: at % 2 ? `Review ${at}.\n\nOf many.` : '' })
}
const [cutSample] = [
  await builder.client.addSample({
    id: reader.id,
    title: 'A long one',
    input: 'Read\n  this.',
    output: 'x'.repeat(4_001),
  }),
  await builder.client.addSample({ id: reader.id, title: 'A short one', input: null, output: 'Read \u202e it.' }),
]
await builder.client.createAgent({
  ...{
    name: 'Plain Helper',
    tagline: 'Helps with one thing at a time',
    description: 'It is not listed, so nobody but its builder can see it.',
  },
  ...{ pricingModel: 'hourly', basePrice: 100_000, categoryIds: ['cat_research'], maxRevisions: 0, turnaroundHours: 1 },
})
const gone = await marketplace.list(builder, { name: 'Gone Later' })
await builder.client.deleteAgent({ id: gone.id })

const anybody = new Visitor(url)
const signedIn = new Visitor(url)
await signedIn.send('/sign-in', { email: buyer.email, password: buyer.password })
const owner = new Visitor(url)
await owner.send('/sign-in', { email: builder.email, password: builder.password })
const leaver = new Visitor(url)
const secured = await marketplace.join('secured')
const { secret } = await secured.client.beginTotp({ password: secured.password })
await secured.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
const HIRE = '/agents/swift-translator/hire'
const onceIn = ({ text }: { text: string }) => /name="once" value="([^"]+)"/.exec(text)![1]!
const once = onceIn(await signedIn.get(HIRE))
const words = { title: 'Translate the notes', description: 'Into German please, headings stay as they are.' }

const test = suite('pages')
test.after(() => marketplace.close())

/** A line for each tag. What differs each time is left out. */
const linesOf = (page: string) =>
  new Masked()
    .in(page.replaceAll(/(?<=>)(?=<)/g, '\n'))
    .replaceAll(/\b\d{1,2} [A-Z][a-z]+ \d{4}\b/g, 'DAY')
    .replaceAll(/(name="once" value=")[^"]+/g, '$1…')
    .replaceAll(/(\?v=)[0-9a-f]+/g, '$1…')
    .replaceAll(/x{99,}/g, run => `${run.length} of x`)
    .replaceAll(/(class="av l )\w+/g, '$1…')
    .trimEnd()
    .concat('\n')

/** Of each time, or of the connection. */
const LEFT_OUT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'x-request-id'])

function headOf({ status, headers }: Shown): string {
  const lines = [...headers]
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => `${name}: ${name === 'etag' ? '…' : value.replace(/(?<=session=|;[qrtw]=)\w+/g, '…')}`)
  return [status, ...lines, '', ''].join('\n')
}

/** Of `/docs`, whose text is that of the endpoints. */
const articleOf = async (name: string) => {
  const docs = await anybody.get('/docs')
  return { ...docs, text: new RegExp(`<article id="${name}"[\\s\\S]*?</article>`).exec(docs.text)![0] }
}

const pages: Readonly<Record<string, () => Promise<Shown>>> = {
  agents: () => anybody.get('/agents'),
  'agents-found': () => signedIn.get('/agents?q=swi&category=writing&sort=price_desc'),
  'agents-none': () => anybody.get('/agents?q=poem&category=code'),
  'agents-elsewhere': () => anybody.get('/agents?q=swift&category=code&sort=newest'),
  'agents-beyond': () => anybody.get('/agents?category=Code&page=3'),
  'agents-refused': () => anybody.get('/agents?sort=best&page=0'),
  agent: () => anybody.get('/agents/swift-translator'),
  'agent-much': () => anybody.get('/agents/code-reader'),
  'agent-reviews': () => signedIn.get('/agents/code-reader?reviews=2'),
  'agent-sample': () => anybody.get(`/agents/code-reader?sample=${cutSample!.id}`),
  'agent-hidden': () => owner.get('/agents/plain-helper'),
  'agent-moved': () => anybody.get(`/agents/${swift.id}`),
  'agent-none': () => anybody.get('/agents/nobody'),
  'agent-gone': () => anybody.get('/agents/gone-later'),
  hire: () => signedIn.get(HIRE),
  'hire-refused': () => signedIn.send(HIRE, { title: 'No', description: 'Too short', price: '1', once }),
  'hire-nothing': () => signedIn.send(HIRE, {}),
  'hire-dear': () => signedIn.send(HIRE, { ...words, requirements: '<b>All</b>', price: '9999', once }),
  'hire-none': () => signedIn.send('/agents/nobody/hire', { ...words, price: '12.50', once }),
  'hire-foreign': () => signedIn.send(HIRE, words, { origin: 'https://evil.example' }),
  'hire-nobody': () => leaver.get(HIRE),
  'hire-signed-out': () => leaver.send(HIRE, { ...words, price: '12.50', once }),
  'hire-sent': () => signedIn.send(HIRE, { ...words, price: '12.50', once }),
  hired: async () => {
    const sent = await signedIn.send(HIRE, { ...words, price: '12.50', once })
    return signedIn.get(sent.headers.get('location')!)
  },
  'hired-accepted': () => signedIn.get(`${HIRE}?task=${accepted.id}`),
  'hired-none': () => signedIn.get(`${HIRE}?task=${'t'.repeat(101)}`),
  'sign-in': () => anybody.get(`/sign-in?to=${HIRE}`),
  'sign-in-refused': () => anybody.send('/sign-in', { email: buyer.email, password: 'wrong', to: HIRE }),
  'sign-in-nothing': () => anybody.send('/sign-in', {}),
  'sign-in-code': () => leaver.send('/sign-in', { email: secured.email, password: secured.password }),
  'sign-in-wrong-code': () =>
    leaver.send('/sign-in', { email: secured.email, password: secured.password, code: ' not-a-code ', to: 'none' }),
  'sign-in-again': () => signedIn.get('/sign-in'),
  'signed-in': () => leaver.send('/sign-in', { email: buyer.email, password: buyer.password, to: HIRE }),
  'signed-out': () => leaver.send('/sign-out', {}),
  'sign-up': () => anybody.get('/sign-up'),
  'sign-up-refused': () => anybody.send('/sign-up', { name: '', email: 'x', password: 'short', builder: 'on' }),
  'sign-up-taken': () =>
    anybody.send('/sign-up', {
      name: '"Ann"',
      email: buyer.email!,
      password: 'a long <one>',
      isBuilder: 'on',
      to: HIRE,
    }),
  root: () => anybody.get('/'),
  sitemap: () => anybody.get('/sitemap.xml'),
  'sitemap-agents': () => anybody.get('/sitemaps/1'),
  'sitemap-none': () => anybody.get('/sitemaps/2'),
  robots: () => anybody.get('/robots.txt'),
  'docs-submit-task': () => articleOf('submitTask'),
  'docs-agent-callback': () => articleOf('agentCallback'),
}

for (const [name, shown] of Object.entries(pages)) {
  test(`${name}: the page is what it was`, async () => {
    const page = await shown()
    const now = linesOf(headOf(page) + page.text)
    sameAsKept(resolve(FOLDER, `${name}.txt`), now)
  })
}

test.run()
