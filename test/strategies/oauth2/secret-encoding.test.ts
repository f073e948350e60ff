import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/auth/session.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, entries, TOKEN_URL, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`
const SECRET = 'p+q/r=s~t%41:u'
const wanted = target({ type: 'oauth2', flows: { clientCredentials: { tokenUrl: TOKEN_URL, scopes: {} } } }, F)
const issued = { access_token: 'at', token_type: 'Bearer', expires_in: 600 }
const refused = { status: 401, body: { error: 'invalid_client' } }

/** The secret in a request, and how it was written. */
function shownBy({ headers }: HttpRequest): 'encoded' | 'plain' | 'other' {
  const [, secret] = /^app:(.*)$/s.exec(atob(headers.authorization?.slice(6) ?? '')) ?? []
  if (secret === SECRET) return 'plain'
  return secret !== undefined && new URLSearchParams(`=${secret}`).get('') === SECRET ? 'encoded' : 'other'
}

/** A service whose server decodes Basic credentials, does not, or refuses all of them. */
function service(takes: readonly string[], fields: object = {}, session = memoryStore()) {
  let now = 1_800_000_000_000
  const answer = (request: HttpRequest): Reply => (takes.includes(shownBy(request)) ? { body: issued } : refused)
  const servers = routes({ [TOKEN_URL]: answer, [F]: { body: 'data' } })
  const credential = unchecked({ ...entries.oauth, clientSecret: SECRET, ...fields })
  const clock = new FakeClock({ now: () => now, waits: 'skipped' })
  const { auth, script } = victim({ credentials: credential, session, clock }, servers)
  const pass = () => {
    now += 3_600_000
  }
  return { auth, pass, session, ways: () => script.sent.filter(({ url }) => url === TOKEN_URL).map(shownBy) }
}

describe('a client secret in Basic credentials', () => {
  it('a client secret is encoded as in RFC 6749 §2.3.1, and sent once to a server that decodes', async () => {
    const { auth, ways } = service(['encoded'])
    await auth.fetch(wanted)
    expect(ways()).toEqual(['encoded'])
  })

  it('a client secret is sent once more unencoded to a server that does not decode, and remembered so', async () => {
    const { auth, pass, session, ways } = service(['plain'])
    await auth.fetch(wanted)
    pass()
    await auth.fetch(wanted)
    expect(ways()).toEqual(['encoded', 'plain', 'plain'])
    const later = service(['plain'], {}, session)
    later.pass()
    later.pass()
    await later.auth.fetch(wanted)
    expect(later.ways()).toEqual(['plain'])
  })

  it('a client secret is encoded again when the server decodes from now on', async () => {
    const takes = ['plain']
    const { auth, pass, ways } = service(takes)
    await auth.fetch(wanted)
    takes[0] = 'encoded'
    for (let times = 0; times < 2; times++) {
      pass()
      await auth.fetch(wanted)
    }
    expect(ways()).toEqual(['encoded', 'plain', 'plain', 'encoded', 'encoded'])
  })

  it('a client secret that is refused both ways is reported, and both are tried again later', async () => {
    const { auth, ways } = service([])
    for (let times = 0; times < 2; times++) {
      const error = await failureOf(auth.fetch(wanted))
      expect(error).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_client' })
      expect(leaks([canaryOf(SECRET, 'app')], { error: shown(error) })).toEqual([])
    }
    expect(ways()).toEqual(['encoded', 'plain', 'encoded', 'plain'])
  })

  it.each<[string, object]>([
    ['letters and digits, which no encoding changes', { clientSecret: 'abc-_.123' }],
    ['a client id with a colon, which needs the encoding', { clientId: 'a:b' }],
    ['its place in the body', { clientAuthentication: 'post' }],
  ])('a client secret is sent in one way only with %s', async (_name, fields) => {
    const { auth, ways } = service([], fields)
    await failureOf(auth.fetch(wanted))
    expect(ways()).toHaveLength(1)
  })

  it.each(['invalid_scope', 'unauthorized_client'])(
    'a client secret is sent once where the server refuses something else: %s',
    async (error) => {
      const servers = routes({ [TOKEN_URL]: { status: 400, body: { error } } })
      const { auth, script } = victim({ credentials: unchecked({ ...entries.oauth, clientSecret: SECRET }) }, servers)
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({ actual: error })
      expect(script.sent).toHaveLength(1)
    },
  )
})
