import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import type { Transport } from '../../src/http/message.ts'
import { assetOf } from '../../src/stac/target.ts'

/** The transport that docs/write-code.md shows, as it is written there. */
async function documentedTransport(): Promise<Transport> {
  const page = readFileSync('docs/write-code.md', 'utf8')
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(page.split('## Tests')[1] ?? '') ?? []
  const own = code.replace(/^import .*$/m, '').replace(/^export const .*$/m, '')
  return (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(own)}`)).throughFetch
}

const item = {
  type: 'Feature',
  stac_version: '1.1.0',
  properties: { 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } },
  assets: { data: { href: 'https://data.example/old', 'auth:refs': ['token'] } },
}

describe('the transport for tests in docs/write-code.md', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('sends with the global fetch, and the engine follows redirects', async () => {
    const seen: string[] = []
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      seen.push(`${init.method} ${url} ${new Headers(init.headers).get('authorization')} ${init.redirect}`)
      return url.endsWith('/old') ? new Response(null, { status: 302, headers: { location: '/new' } }) : new Response('content')
    })
    const auth = createAuth({ credentials: bearer('t', 'https://data.example/'), transport: await documentedTransport() })
    const response = await auth.fetch(assetOf(item, 'data'))
    expect(await response.text()).toBe('content')
    expect(await (await auth.send(assetOf(item, 'data'))).text(100)).toBe('content')
    expect(seen.slice(0, 2)).toEqual(['GET https://data.example/old Bearer t manual', 'GET https://data.example/new Bearer t manual'])
  })
})
