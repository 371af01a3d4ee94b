/** What all public pages have: the head that programs read too, the header and the footer. */
import type { Refusal } from '../../api/failures.ts'
import type { Actor } from '../../market/market.ts'
import type { Config } from '../../settings/config.ts'
import { type Html, html, raw } from '../../shared/html.ts'
import { icon, mark } from './icons.ts'
import type { PublicFiles } from './style.ts'
import { cut, plain, said } from './words.ts'

export interface Around {
  readonly config: Config
  readonly files: PublicFiles
  readonly actor: Actor | null
}

export interface Face {
  /** Its address for everyone, whatever led here. */
  readonly path: string
  readonly title: string
  readonly description: string
  readonly main: Html
  /** false: not for search engines. */
  readonly isIndexed?: boolean
  /** What it shows, for programs: schema.org. */
  readonly data?: object
  /** Its neighbours in a list. */
  readonly previous?: string | undefined
  readonly next?: string | undefined
}

/** What search engines show of a description. */
const DESCRIPTION = 160

export const siteName = ({ brand, mode, baseUrl }: Pick<Config, 'brand' | 'mode' | 'baseUrl'>) =>
  brand.name ?? (mode === 'serve' && URL.canParse(baseUrl) ? new URL(baseUrl).host : 'marketplace')

export function document(around: Around, face: Face): Html {
  const { config } = around
  return html`<!doctype html>
<html lang="en">
${head(around, face)}
<body class="pub">
<a class="skip" href="#main">Skip to the page</a>
${header(around)}
<main id="main" class="wrap" tabindex="-1">
${face.main}
</main>
<footer class="pfoot"><div class="wrap"><span>Money is held until you approve.</span><a href="/docs">API reference</a><a href="/openapi.json">openapi.json</a><span class="r n">agent-marketplace ${config.version}</span></div></footer>
</body>
</html>
`
}

function head(
  { config, files }: Around,
  { path, title, description, isIndexed = true, data, previous, next }: Face,
): Html {
  const site = siteName(config)
  const picture = files.picture(config)
  const name = plain(title)
  const words = cut(plain(description), DESCRIPTION)
  const address = config.baseUrl + path
  const neighbour = (rel: string, to: string | undefined) =>
    to !== undefined && html`\n<link rel="${rel}" href="${to}">`
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name} · ${site}</title>
<meta name="description" content="${words}">
${isIndexed ? html`<link rel="canonical" href="${address}">` : html`<meta name="robots" content="noindex">`}${neighbour('prev', previous)}${neighbour('next', next)}
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site}">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${words}">
<meta property="og:url" content="${address}">${config.brand.logo && html`\n<meta property="og:image" content="${config.baseUrl}${picture.href}">`}
<meta name="twitter:card" content="summary">
<link rel="icon" href="${picture.href}">
<link rel="stylesheet" href="${files.style?.href ?? '/assets/style.css'}">${data && linkedData(data)}
</head>`
}

/** No script: browsers run nothing of this type, and no policy has to allow it. */
const linkedData = (data: object) =>
  html`\n<script type="application/ld+json">${raw(JSON.stringify({ '@context': 'https://schema.org', ...data }).replaceAll('<', '\\u003c'))}</script>`

function header({ config, files, actor }: Around): Html {
  const { logo } = config.brand
  const sign = logo ? html`<img class="logo" src="${files.picture(config).href}" alt="" height="28">` : mark
  return html`<header class="ptop"><div class="wrap"><a class="brand" href="/agents">${sign}<span class="cut">${siteName(config)}</span></a><nav aria-label="Site"><a href="/agents">Agents</a><a class="wide" href="/sign-up?as=builder">For builders</a><a class="wide" href="/docs">API</a>${actor ? account(config, actor) : html`<a class="b" href="/sign-in">Sign in</a>`}</nav></div></header>`
}

/** Leads to what the account has, where the console shows it. */
function account({ console }: Config, { user }: Actor): Html {
  const name = html`<span class="vh">Signed in as </span>${said(user.name)}`
  const shown =
    console === 'on' ? html`<a class="who-n" href="/console">${name}</a>` : html`<span class="who-n">${name}</span>`
  return html`${shown}<form method="post" action="/sign-out"><button class="b">Sign out</button></form>`
}

/** A note at the top of a page: what went wrong, and what to do. */
export const note = (words: Html | string) =>
  html`<div class="note bad" role="alert">${icon('failed')}<div>${words}</div></div>`

/** What people read instead of a refusal. */
export function refusedPage(
  around: Around,
  { status, message, errors }: Pick<Refusal, 'status' | 'message' | 'errors'>,
): Html {
  const title = titles[status] ?? (status < 500 ? 'This did not work' : 'Something is wrong here')
  const faults = Object.entries(errors ?? {}).map(([field, words]) => html`<li>${field} ${words.join('; ')}</li>`)
  return document(around, {
    path: '/agents',
    title,
    description: message,
    isIndexed: false,
    main: html`<div class="stack"><h1>${title}</h1><p class="lead">${message}.</p>${faults.length > 0 && html`<ul>${faults}</ul>`}<p><a class="b" href="/agents">To all agents</a></p></div>`,
  })
}

const titles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Nothing is here',
  410: 'Gone',
  429: 'Too many requests',
}
