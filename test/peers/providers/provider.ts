/** What the tests know of a provider that others wrote, a person with a browser at it, and files that ask it whose token they are shown. */
import { request } from 'undici'
import { type Answer, type AnsweringServer, startAnswering } from '../../servers/answering-server.ts'

export const PASSWORD = 'swordfish'

/** What a person does on the pages of a provider. */
export interface Visit {
  readonly password?: string
  readonly deny?: boolean
}

/** The fields of a credential besides `id` and `sendTo`; `secret` is where a client's secret or a person's password is kept. */
export type Fields = (secret: (text: string) => unknown) => Readonly<Record<string, unknown>>

export interface Provider {
  readonly issuer: string
  /** Somebody who logs in with a browser. */
  readonly person: Fields
  /** The same with written URLs, where the provider is one of OpenID Connect. */
  readonly written?: Fields
  /** A program of its own, and as whom the provider knows it; `wrong` in place of its secret. */
  readonly service?: { readonly owner: string; readonly fields: (wrong?: string) => Fields }
  /** A user name and password for tokens. */
  readonly legacy?: (wrong?: string) => Fields
  /** Plays the person from the first page to the loopback listener; the text of the last page. */
  visit(url: string, visit?: Visit): Promise<string>
  /** Allows what a device shows. */
  readonly approve?: (url: string, code: string) => Promise<void>
  /** Whose access token it is, as the provider itself says; undefined where it is not good. */
  ask(token: string): Promise<string | undefined>
  stop(): Promise<void>
}

/** Files behind bearer tokens (RFC 6750). */
export interface Files {
  readonly url: string
  readonly origin: string
  /** Every token that was shown, in order. */
  readonly shown: readonly string[]
  /** From now on, no token that was shown is taken. */
  refuseShown(): void
  close(): Promise<void>
}

/** Starts the files of a provider. */
export async function startFiles(ask: Provider['ask']): Promise<Files> {
  const shown: string[] = []
  const refused = new Set<string>()
  const server: AnsweringServer = await startAnswering(async ({ headers }): Promise<Answer> => {
    const token = /^Bearer ([\x21-\x7e]+)$/.exec(headers.authorization ?? '')?.[1]
    if (token !== undefined) shown.push(token)
    const owner = token === undefined || refused.has(token) ? undefined : await ask(token)
    if (owner !== undefined) return { status: 200, headers: { 'content-type': 'text/plain' }, body: `file of ${owner}` }
    const error = token === undefined ? '' : ', error="invalid_token"'
    return { status: 401, headers: { 'www-authenticate': `Bearer realm="files"${error}` } }
  })
  return {
    url: `${server.origin}/files`,
    origin: server.origin,
    shown,
    refuseShown: () => {
      for (const token of shown) refused.add(token)
    },
    close: () => server.close(),
  }
}

/** Asks by introspection (RFC 7662); undefined for a token that is not active. */
export async function introspected(
  url: string,
  client: { readonly id: string; readonly secret: string },
  token: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`
  const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body })
  const told = response.ok ? ((await response.json()) as Readonly<Record<string, unknown>>) : { active: false }
  return told.active === true ? told : undefined
}

/** A page, and where it is. */
export interface Page {
  readonly url: URL
  readonly status: number
  readonly text: string
}

/** A browser without script: cookies, redirects and forms. Not of `fetch`, which says of itself that it is the script of a page. */
export class Browser {
  readonly #cookies = new Map<string, string>()

  /** Follows redirects to a page. */
  async open(url: string | URL, body?: URLSearchParams | object): Promise<Page> {
    let at = new URL(url)
    let sent = body
    for (let hop = 0; hop < 20; hop++) {
      const { statusCode, headers, body: answer } = await request(at, this.#request(at, sent))
      for (const cookie of [headers['set-cookie'] ?? []].flat()) this.#keep(cookie)
      const text = await answer.text()
      if (typeof headers.location !== 'string') return { url: at, status: statusCode, text }
      at = new URL(headers.location, at)
      sent = undefined
    }
    throw new Error(`${url} leads nowhere`)
  }

  /** Sends the form of a page with what is filled in; hidden fields go along, buttons only if they are named. */
  submit(page: Page, filled: Readonly<Record<string, string>>): Promise<Page> {
    const inputs = [...page.text.matchAll(/<input[^>]*>/g)].map(([input]) => input)
    const hidden = inputs
      .filter((input) => /type="?hidden/.test(input))
      .map((input): [string, string] => [of(input, 'name'), of(input, 'value')])
    const action = /<form[^>]*action="([^"]+)"/.exec(page.text)?.[1] ?? page.url.href
    return this.open(new URL(action, page.url), new URLSearchParams({ ...Object.fromEntries(hidden), ...filled }))
  }

  #request(at: URL, body: URLSearchParams | object | undefined) {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ')
    if (body === undefined) return { headers: { cookie, accept: 'text/html' } }
    const isForm = body instanceof URLSearchParams
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    const headers = { cookie, origin: at.origin, referer: at.href, 'content-type': type }
    return { method: 'POST' as const, headers, body: isForm ? body.toString() : JSON.stringify(body) }
  }

  #keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (value === '' || /max-age=0/i.test(cookie)) this.#cookies.delete(name)
    else this.#cookies.set(name, value)
  }
}

function of(input: string, attribute: string): string {
  return decoded(new RegExp(`${attribute}="([^"]*)"`).exec(input)?.[1] ?? '')
}

function decoded(html: string): string {
  const characters: Readonly<Record<string, string>> = { '&amp;': '&', '&quot;': '"', '&#x27;': "'", '&lt;': '<', '&gt;': '>' }
  return html.replace(/&[#\w]+;/g, (entity) => characters[entity] ?? entity)
}
