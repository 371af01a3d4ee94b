/** Renders the reference as one HTML page from the OpenAPI document. The page loads only its own stylesheet and script. */

import { shellWord } from '../api/command-line.ts'
import { type Field, fieldsOf, typeOf } from '../api/openapi/fields.ts'
import type { JsonSchema } from '../api/openapi/json-schema.ts'
import type { OpenApi } from '../api/openapi/openapi.ts'
import type { Operation } from '../api/openapi/operation.ts'
import type { Content, Response } from '../api/openapi/responses.ts'
import { type Html, html } from '../shared/html.ts'

export function referencePage(doc: OpenApi): string {
  const { title, version } = doc.info
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Reference</title>
<meta name="description" content="Each endpoint, record, event and error of ${title}, with examples.">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/script.js" defer></script>
</head>
<body>
<nav aria-label="Contents">
<p class="brand"><a href="#top">${title}</a> <small>${version}</small></p>
<input id="filter" type="search" placeholder="Filter (press /)" aria-label="Filter endpoints" autocomplete="off">
${doc.tags.map(tag => contents(doc, tag))}
<p><a href="#records">Records</a> · <a href="#errors">Errors</a> · <a href="/openapi.json">openapi.json</a></p>
</nav>
<main id="top">
<h1>${title}</h1>
${doc.info.description.split('\n\n').map(paragraph => html`<p>${withCode(paragraph)}</p>`)}
<p>Answers at <code>${doc.servers[0]!.url}</code></p>
${doc.tags.map(tag => chapter(doc, tag))}
<section id="records"><h2>Records</h2>${records(doc)}</section>
<section id="errors"><h2>Errors</h2>${errors(doc)}</section>
</main>
</body>
</html>
`.text
}

type Tag = OpenApi['tags'][number]

interface Placed {
  method: string
  path: string
  operation: Operation
}

function operationsOf(doc: OpenApi, tag: string): Placed[] {
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      typeof operation === 'object' && operation.tags.includes(tag)
        ? [{ method: method.toUpperCase(), path, operation }]
        : [],
    ),
  )
}

/** Renders text between backquotes as code. */
const withCode = (text: string) => text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))

function contents(doc: OpenApi, { name, 'x-displayName': title }: Tag): Html {
  const entries =
    name === 'events'
      ? Object.entries(doc.webhooks).map(([event, { post }]) => ({
          id: post.operationId,
          method: 'EVENT',
          text: event,
        }))
      : operationsOf(doc, name).map(({ method, operation }) => ({
          id: operation.operationId,
          method,
          text: operation.summary,
        }))
  return html`<details open><summary>${title}</summary><ul>${entries.map(
    ({ id, method, text }) =>
      html`<li data-for="${id}"><a class="entry" href="#${id}">${badge(method)}${text}</a></li>`,
  )}</ul></details>`
}

const badge = (method: string) => html`<b class="method ${method.toLowerCase()}">${method}</b> `

function chapter(doc: OpenApi, { name, 'x-displayName': title, description }: Tag): Html {
  const articles = name === 'events' ? events(doc) : operationsOf(doc, name).map(placed => article(doc, placed))
  return html`<section id="${name}"><h2>${title}</h2><p>${description}</p>${articles}</section>`
}

function article(doc: OpenApi, { method, path, operation }: Placed): Html {
  const { operationId, summary, description, requestBody, responses } = operation
  const { limit, windowMs } = operation['x-rate-limit']
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 300)
  return html`<article id="${operationId}" data-words="${`${operationId} ${method} ${path} ${summary}`.toLowerCase()}">
<h3>${badge(method)}<code>${path}</code> <a class="anchor" href="#${operationId}" aria-label="Link to ${operationId}">#</a></h3>
<p>${summary}. ${description}</p>
<p class="facts"><code>${operationId}</code> · ${limit} requests in ${windowMs / 1000} s</p>
${parameters(operation)}
${requestBody && body(requestBody.content['application/json']!)}
<details><summary>Example request</summary>${code(curl(doc, { method, path, operation }))}</details>
${successes.map(([status, response]) => answer(status, response))}
<details><summary>Refusals</summary>${refusals(doc, responses)}</details>
</article>`
}

function parameters({ parameters: all }: Operation): Html | false {
  if (all.length === 0) return false
  const rows = all.map(({ name, in: where, required, description = '', schema }) => {
    const [field] = fieldsOf({ properties: { [name]: schema } })
    return { ...field!, type: `${field!.type} (${where})`, required, rules: description || field!.rules }
  })
  return html`<h4>Parameters</h4>${fields(rows)}`
}

function body({ schema }: Content): Html {
  const shapes: readonly JsonSchema[] = schema.oneOf ?? [schema]
  return html`<h4>Body${shapes.length > 1 && ', one of'}</h4>${shapes.map(shape => fields(fieldsOf(shape)))}`
}

function answer(status: string, { description, content = {} }: Response): Html {
  const json = content['application/json']
  if (!json) return html`<p>Answers ${status}: ${description}</p>`
  const data = json.schema.properties!.data!
  const what = data.properties ? fields(fieldsOf(data)) : html`<p>${typeLink(typeOf(data))}</p>`
  return html`<details><summary>Answers ${status}</summary>${what}${code(JSON.stringify(json.example, null, 2))}</details>`
}

function refusals(doc: OpenApi, responses: Record<string, Response>): Html {
  const rows = Object.entries(responses).flatMap(([status, response]) => {
    const content = response.$ref
      ? doc.components.responses[response.$ref.split('/').at(-1)!]!.content
      : response.content
    const names = Object.keys(content?.['application/json']?.examples ?? {})
    return names.map(name => [status, name, doc.components.examples[name]!.summary] as const)
  })
  return html`<table><thead><tr><th>Status<th>Name<th>Words</thead><tbody>${rows.map(
    ([status, name, words]) => html`<tr><td>${status}<td><code>${name}</code><td>${words}`,
  )}</tbody></table>`
}

/** Returns a shell command. It has placeholders for secrets and ids. */
function curl(doc: OpenApi, { method, path, operation }: Placed): string {
  const { security, requestBody } = operation
  const wants = (name: string) => security.some(choice => name in choice)
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `$${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`,
  )
  const example = requestBody?.content['application/json']?.example
  const lines = [
    `curl -X ${method} "${doc.servers[0]!.url}${filled}"`,
    wants('apiKey') && '-H "Authorization: Bearer $API_KEY"',
    wants('session') && !wants('apiKey') && '-H "Cookie: session=$SESSION"',
    wants('signature') && '-H "X-Service-Timestamp: $TIMESTAMP" -H "X-Service-Signature: $SIGNATURE"',
    example !== undefined && '-H "Content-Type: application/json"',
    example !== undefined && `-d ${shellWord(JSON.stringify(example))}`,
  ]
  return lines.filter(Boolean).join(' \\\n  ')
}

const code = (text: string) => html`<pre><code>${text}</code></pre>`

/** Links the names of records. Words in quotes are values. */
const typeLink = (type: string) =>
  type.split(/("[^"]*"|\w+)/).map(word => (/^[A-Z]/.test(word) ? html`<a href="#record-${word}">${word}</a>` : word))

const fields = (rows: readonly Field[]) =>
  html`<table><thead><tr><th>Field<th>Type<th>Rules</thead><tbody>${rows.map(
    ({ name, type, required, rules }) =>
      html`<tr><td><code>${name}</code>${required && html` <em>required</em>`}<td>${typeLink(type)}<td>${rules}`,
  )}</tbody></table>`

function events(doc: OpenApi): Html[] {
  return Object.entries(doc.webhooks).map(([name, { post }]) => {
    const { schema, example } = post.requestBody.content['application/json']!
    const part = doc.components.schemas[schema.$ref!.split('/').at(-1)!]!
    return html`<article id="${post.operationId}" data-words="event webhook ${name}"><h3>${badge('EVENT')}<code>${name}</code></h3>
<p>${post.description}</p><details><summary>Payload</summary>${fields(fieldsOf(part))}${code(JSON.stringify(example, null, 2))}</details></article>`
  })
}

const records = (doc: OpenApi) =>
  Object.entries(doc.components.schemas)
    .filter(([name]) => !name.endsWith('Event'))
    .map(
      ([name, schema]) =>
        html`<article id="record-${name}" data-words="record ${name.toLowerCase()}"><h3>${name}</h3>${fields(fieldsOf(schema))}</article>`,
    )

const errors = (doc: OpenApi) =>
  html`<table><thead><tr><th>Name<th>Words</thead><tbody>${Object.entries(doc.components.examples).map(
    ([name, { summary }]) => html`<tr><td><code>${name}</code><td>${summary}`,
  )}</tbody></table>`
