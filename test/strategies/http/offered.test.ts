import { afterEach, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { challengesFor } from '../../../src/strategies/http/challenge-response.ts'
import { unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { thrownBy } from '../../harness/failure.ts'
import { type Reply, script } from '../../harness/scripted.ts'

const context = wordContext('digest', {})
const answer = (reply: Reply) => script(() => reply).send({ method: 'GET', url: 'https://data.example/f?key=k', headers: {} })

describe('the challenges of an answer', () => {
  it('the challenges of an answer are those of the scheme, in any case and in their order', async () => {
    const response = await answer(unauthorized('DIGEST a=1, Basic realm="x", digest b=2'))
    expect(challengesFor(response, 'Digest', context).map(({ params }) => [...params.keys()])).toEqual([['a'], ['b']])
  })

  it('the challenges of an answer are none when nothing is asked', async () => {
    for (const status of [200, 304, 403, 407]) {
      expect(challengesFor(await answer({ ...unauthorized('Digest a=1'), status }), 'Digest', context)).toEqual([])
    }
  })

  it('the challenges of an answer must be of the scheme: else an error says what is asked, shortly', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `S${index} realm="${'r'.repeat(99)}"`).join(', ')
    const response = await answer(unauthorized(`${many}, ="`))
    const error = thrownBy(() => challengesFor(response, 'Digest', context))
    expect(error).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', url: 'https://data.example/f', credential: 'mine', status: 401 })
    expect(error.message).toContain(`S7 (realm "${'r'.repeat(64)}…"); an element is neither`)
    expect(error.message).not.toContain('S8')
  })
})

describe('in a browser', () => {
  afterEach(() => vi.restoreAllMocks())

  it('a challenge that a page cannot see is not taken for none', async () => {
    vi.spyOn(platform, 'hidesHeaders', 'get').mockReturnValue(true)
    const response = await answer({ status: 401 })
    expect(thrownBy(() => challengesFor(response, 'Digest', context))).toMatchObject({
      code: 'UNSUPPORTED_IN_BROWSER',
      hint: 'for Digest the server must list WWW-Authenticate and Authentication-Info in Access-Control-Expose-Headers',
    })
    const seen = await answer(unauthorized('Digest a=1'))
    expect(challengesFor(seen, 'Digest', context)).toHaveLength(1)
  })
})
