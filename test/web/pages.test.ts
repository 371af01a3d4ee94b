// engines: embedded; process: shared
/** What the public pages are made of, tag by tag. `npm run goldens` writes them anew. */
import { resolve } from 'node:path'
import { suite } from 'uvu'
import { sameAsKept } from '../support/golden.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { Masked } from '../support/masked.ts'
import { Visitor } from './visitor.ts'

const FOLDER = resolve('test/web/pages')
const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
const { url } = marketplace
await marketplace.stopHeartbeat()
const builder = await marketplace.join('builder')
const buyer = await marketplace.join('buyer', 100_000)
const swift = await marketplace.list(builder, {
  ...{ name: 'Swift Translator', tagline: 'Leaflets, manuals and release notes', maxRevisions: 3, turnaroundHours: 48 },
  ...{ description: 'Send a text of up to 10,000 characters.\n\nI ask when a sentence can mean two things.' },
  ...{ basePrice: 123_456, tags: ['German', 'fast'] },
})
await marketplace.list(builder, { name: 'Code <Reader>', categoryIds: ['cat_code', 'cat_data'], maxRevisions: null })
const task = await marketplace.draft(buyer, swift, taskFields)
await buyer.client.submitTask({ id: task.id })
await marketplace.callback(swift, task.id, { action: 'accept' })
await marketplace.callback(swift, task.id, { action: 'deliver', content: 'Done.' })
await buyer.client.approveTask({ id: task.id })
await buyer.client.submitReview({ id: task.id, rating: 4, comment: 'Quick & careful.\nAgain!' })

const anybody = new Visitor(url)
const signedIn = new Visitor(url)
await signedIn.send('/sign-in', { email: buyer.email, password: buyer.password })
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
    .replaceAll(/(class="av l )\w+/g, '$1…')
    .trimEnd()
    .concat('\n')

/** Of `/docs`, whose text is that of the endpoints. */
const articleOf = async (name: string) => {
  const { text } = await anybody.get('/docs')
  return { text: new RegExp(`<article id="${name}"[\\s\\S]*?</article>`).exec(text)![0] }
}

const pages: Readonly<Record<string, () => Promise<{ text: string }>>> = {
  agents: () => anybody.get('/agents'),
  'agents-found': () => signedIn.get('/agents?q=swi&category=writing&sort=price_desc'),
  'agents-none': () => anybody.get('/agents?q=poem&category=code'),
  'agents-refused': () => anybody.get('/agents?sort=best&page=0'),
  agent: () => anybody.get('/agents/swift-translator'),
  'agent-none': () => anybody.get('/agents/nobody'),
  hire: () => signedIn.get(HIRE),
  'hire-refused': () => signedIn.send(HIRE, { title: 'No', description: 'Too short', price: '1', once }),
  hired: async () => {
    const sent = await signedIn.send(HIRE, { ...words, price: '12.50', once })
    return signedIn.get(sent.headers.get('location')!)
  },
  'sign-in': () => anybody.get(`/sign-in?to=${HIRE}`),
  'sign-in-refused': () => anybody.send('/sign-in', { email: buyer.email, password: 'wrong', to: HIRE }),
  'sign-up': () => anybody.get('/sign-up'),
  'sign-up-refused': () => anybody.send('/sign-up', { name: '', email: 'x', password: 'short', builder: 'on' }),
  sitemap: () => anybody.get('/sitemap.xml'),
  robots: () => anybody.get('/robots.txt'),
  'docs-submit-task': () => articleOf('submitTask'),
  'docs-agent-callback': () => articleOf('agentCallback'),
}

for (const [name, shown] of Object.entries(pages)) {
  test(`${name}: the page is what it was`, async () => {
    const now = linesOf((await shown()).text)
    sameAsKept(resolve(FOLDER, `${name}.txt`), now)
  })
}

test.run()
