/** Somebody with a browser that runs no scripts: reads pages, keeps cookies, sends forms. */
export interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export class Visitor {
  readonly #url: string
  #cookie = ''

  constructor(url: string) {
    this.#url = url
  }

  get isSignedIn(): boolean {
    return this.#cookie !== ''
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Shown> {
    return this.#shown(
      await fetch(this.#url + path, { method, headers: { ...this.#own, ...headers }, redirect: 'manual' }),
    )
  }

  /** `from`: the headers by which a browser tells where a form comes from. */
  async send(
    path: string,
    fields: Readonly<Record<string, string>>,
    from: Readonly<Record<string, string>> = { origin: this.#url, 'sec-fetch-site': 'same-origin' },
  ): Promise<Shown> {
    const body = new URLSearchParams(fields)
    return this.#shown(
      await fetch(this.#url + path, { method: 'POST', headers: { ...this.#own, ...from }, body, redirect: 'manual' }),
    )
  }

  get #own(): Record<string, string> {
    return this.#cookie === '' ? {} : { cookie: this.#cookie }
  }

  async #shown(reply: Response): Promise<Shown> {
    const set = reply.headers.get('set-cookie')
    if (set !== null) this.#cookie = /Max-Age=0/.test(set) ? '' : set.split(';')[0]!
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
}

/** What a page shows to who reads it. */
export const wordsOf = (html: string) =>
  html
    .replaceAll(/<script[\s\S]*?<\/script>|<head>[\s\S]*?<\/head>|<[^>]*>/g, ' ')
    .replaceAll(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name]!)
    .replaceAll(/\s+/g, ' ')

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

/** The data of a page for programs. */
export const linkedDataOf = (html: string) =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)![1]!) as Record<string, unknown>
