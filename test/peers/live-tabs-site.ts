/** The site of the tests with two tabs: a page, a provider whose tokens end with a logout, and data for a token or a key. */
import { jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { partOf } from '../servers/byte-range.ts'
import { crossOrigin } from '../servers/cross-origin.ts'
import { scriptOf } from './page-script.ts'
import { startSite, wav } from './page-server.ts'

export interface App {
  readonly changes: readonly { readonly kind: string; readonly credential: string; readonly tab: string }[]
  read(ref: string): Promise<unknown>
  login(): Promise<unknown>
  logout(): Promise<unknown>
  remove(id: string): Promise<unknown>
}

export interface TabSite {
  /** The address of the page. */
  readonly url: string
  /** Lets the provider take longer for a revocation than any page waits. */
  slowDown(isSlow: boolean): void
  /** Counts the tokens that were not revoked. */
  valid(): number
  /** Counts the requests for data that had a token or a key. */
  sent(): number
  /** The statuses of requests for the film that a token was sent with. */
  films(): readonly number[]
  close(): Promise<void>
}

/**
 * @param script the page of the site
 * @param workers scripts of its workers by path
 */
export async function startTabSite(
  script = 'test/peers/live-tabs-in-page.ts',
  workers: Readonly<Record<string, string>> = {},
): Promise<TabSite> {
  let isSlow = false
  /** Tokens that the provider gave. */
  const good = new Set<string>()
  const html = '<!doctype html><meta charset="utf-8"><title>page</title><script src="/app.js"></script>'
  const scripts = Object.entries({ '/app.js': script, ...workers }).map(
    async ([path, entry]) => [path, { type: 'text/javascript', body: await scriptOf(entry) }] as const,
  )
  const site = await startSite({ '/': { type: 'text/html', body: html }, ...Object.fromEntries(await Promise.all(scripts)) }, () => ({
    status: 405,
  }))
  const allows = { origin: site.origin, headers: 'authorization, content-type, range, x-api-key' }
  const provider = await startAnswering(
    crossOrigin(async ({ path, body }) => {
      if (path === '/revoke') {
        if (isSlow) await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
        good.delete(new URLSearchParams(body).get('token') ?? '')
        return { status: 200 }
      }
      if (path !== '/token' || new URLSearchParams(body).get('code') !== 'c') return { status: 400 }
      const token = `token-${good.size + 1}`
      good.add(token)
      return jsonAnswer(200, { access_token: token, token_type: 'Bearer', expires_in: 600 })
    }, allows),
  )
  const film = wav(30)
  const data = await startAnswering(
    crossOrigin(({ path, headers }) => {
      const who = good.has(headers.authorization?.slice(7) ?? '') ? 'more' : 'public'
      if (path === '/public') return { status: 200, headers: { 'cache-control': 'max-age=600' }, body: who }
      const isRight = path === '/key' ? headers['x-api-key'] === 'right-key' : good.has(headers.authorization?.slice(7) ?? '')
      if (isRight && path === '/film') return partOf(film, headers.range) ?? { status: 416 }
      return isRight ? { status: 200, body: 'file' } : { status: 401 }
    }, allows),
  )
  return {
    slowDown: (slow) => {
      isSlow = slow
    },
    valid: () => good.size,
    url: `${site.origin}/?data=${encodeURIComponent(data.origin)}&provider=${encodeURIComponent(provider.origin)}`,
    sent: () => data.exchanges.filter(({ request: { headers } }) => (headers.authorization ?? headers['x-api-key']) !== undefined).length,
    films: () =>
      data.exchanges.filter(({ request }) => request.path === '/film' && request.headers.authorization).map(({ answer }) => answer.status),
    close: async () => {
      await Promise.all([site.close(), provider.close(), data.close()])
    },
  }
}
