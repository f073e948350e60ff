import { describe, expect, it } from 'vitest'
import { CHECK_VALUE } from '../../src/auth/strategy.ts'
import { withSetupHint } from '../../src/cli/setup-hint.ts'
import { CredentialError } from '../../src/errors.ts'
import { answerFailure } from '../../src/node/base/answer-failure.ts'
import { linkOf } from '../../src/stac/target.ts'

describe('the advice for a refused request without a credential', () => {
  const refused = (url: string, headers: Record<string, string> = {}, isLinked = false) => {
    const document = { type: 'Catalog', id: 'c', links: [{ rel: 'item', href: url }] }
    const answer = { status: 403, url, headers: new Headers(headers), body: null }
    return answerFailure(answer, isLinked ? linkOf(document, 'item') : undefined)
  }

  it('names a credential for an encrypted URL, and for one on this machine', async () => {
    for (const origin of ['https://data.example', 'http://127.0.0.1:8080']) {
      const error = await refused(`${origin}/c.json`)
      expect(error.hint).toContain(`"sendTo":["${origin}/"]`)
      expect(withSetupHint(error, [`${origin}/c.json`]).hint).toMatch(/^stac-auth setup http.*\nor, if you trust /)
    }
  })

  it.each([false, true])(
    'names no credential for a URL that is not encrypted, because sendTo cannot contain it (linked: %s)',
    async (linked) => {
      const error = await refused('http://data.example/c.json', {}, linked)
      expect(error).toMatchObject({
        code: 'AUTH_REJECTED',
        hint: expect.stringMatching(/^this URL is not encrypted .*use its https: URL$/),
      })
      expect(withSetupHint(error, ['http://data.example/c.json']).hint).toBe(error.hint)
    },
  )

  it('names the administrator of a Squid proxy that refuses the URL itself', async () => {
    for (const url of ['http://data.example/c.json', 'https://data.example/c.json']) {
      const error = await refused(url, { 'x-squid-error': 'ERR_ACCESS_DENIED 0' })
      expect(error).toMatchObject({ code: 'AUTH_REJECTED', hint: expect.stringContaining('Squid proxy: ask its administrator') })
      expect(withSetupHint(error, [url]).hint).toBe(error.hint)
    }
  })

  it('names the only document of a command in the advice to ask again for a refused secret', () => {
    const url = 'https://data.example/a.tif'
    const error = new CredentialError('AUTH_REJECTED', 'refused', { credential: 'key', url, hint: CHECK_VALUE })
    expect(withSetupHint(error, ['item.json']).hint).toMatch(/; stac-auth setup item\.json asks for it again$/)
    for (const pattern of ['$&', '$`', "$'", '$$'])
      expect(withSetupHint(error, [`a${pattern}.json`]).hint).toBe(
        CHECK_VALUE.replace('DOC', () => `'a${pattern.replace("'", () => "'\\''")}.json'`),
      )
    for (const names of [[], ['-'], [url], ['a.json', 'b.json']]) expect(withSetupHint(error, names).hint).toBe(CHECK_VALUE)
  })
})
