import { describe, expect, it } from 'vitest'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, entries, secrets, TOKEN_URL, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`
const wanted = target({ type: 'oauth2', flows: { password: { tokenUrl: TOKEN_URL, scopes: {} } } }, F)
const { clientSecret: _none, ...client } = entries.oauth
const account = { ...client, flow: 'password', username: 'ada', password: secrets.password.value, allowPasswordGrant: true }
const form = ({ body }: HttpRequest) => Object.fromEntries(new URLSearchParams(String(body)))

/** A provider with a second factor: it wants this code, this password and these further parameters. */
function provider(fields: Partial<CredentialInput>, good: Readonly<Record<string, string>> = {}, life = 600) {
  let time = 1_800_000_000_000
  const reply = (request: HttpRequest): Reply => {
    const all: Readonly<Record<string, string>> = { username: 'ada', password: secrets.password.value, ...good }
    const isRight = Object.entries(all).every(([name, value]) => form(request)[name] === value)
    return isRight
      ? { body: { access_token: 't', token_type: 'Bearer', expires_in: life } }
      : { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid user credentials' } }
  }
  const servers = routes({ [TOKEN_URL]: reply, [F]: { body: 'data' } })
  const clock = new FakeClock({ now: () => time, waits: 'skipped' })
  const { auth, script } = victim({ credentials: unchecked({ ...account, ...fields }), clock }, servers)
  const pass = (milliseconds: number) => {
    time += milliseconds
  }
  return { auth, pass, forms: () => script.to('auth.victim.example').map(form) }
}

describe('a password grant', () => {
  it('sends the one-time code of the second factor, a new one each time', async () => {
    let made = 100_000
    const good = { totp: '' }
    const { auth, pass, forms } = provider({ totp: async () => (good.totp = String(++made)) }, good)
    await auth.fetch(wanted)
    pass(3_600_000)
    await auth.fetch(wanted)
    expect(forms().map(({ totp }) => totp)).toEqual(['100001', '100002'])
  })

  it('sends the further parameters of the credential', async () => {
    const tokenParameters = { realm: 'eo', key: async () => secrets.key.value }
    const { auth, forms } = provider({ tokenParameters }, { realm: 'eo', key: secrets.key.value })
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(forms()).toEqual([
      expect.objectContaining({ grant_type: 'password', client_id: 'app', scope: 'read', realm: 'eo', key: secrets.key.value }),
    ])
  })

  it.each([
    'grant_type',
    'username',
    'password',
    'totp',
    'scope',
    'resource',
    'audience',
    'client_id',
    'client_secret',
    'client_assertion',
  ])('a password grant has no further parameter %s, which decides something else', async (name) => {
    expect(await failureOf(provider({ tokenParameters: { [name]: 'x' } }).auth.ready())).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/credentials/0/tokenParameters',
      message: expect.stringContaining(`"${name}"`),
    })
  })

  it('takes no parameter and no code of a catalog', async () => {
    const { auth, forms } = provider({})
    const flows = { password: { tokenUrl: TOKEN_URL, scopes: {}, totp: '666', tokenParameters: { evil: '1' } } }
    await auth.fetch(target({ type: 'oauth2', flows, tokenParameters: { evil: '1' }, totp: '666' }, F))
    expect(JSON.stringify(forms())).not.toMatch(/evil|666/)
  })

  it.each<[string, Partial<CredentialInput>, RegExp, RegExp]>([
    ['', {}, /refused the user name or password of "oauth"$/, /second factor needs "totp"/],
    [' or code', { totp: '123456' }, /refused the user name, password or one-time code of "oauth"$/, /check "totp"/],
  ])('reports that user name or password%s were refused, and shows none of them', async (_name, fields, message, hint) => {
    const { auth, forms } = provider({ password: secrets.key.value, ...fields })
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', actual: 'invalid_grant', retryable: false, credential: 'oauth' })
    expect(error).toMatchObject({ message: expect.stringMatching(message), hint: expect.stringMatching(hint) })
    expect(leaks([secrets.key], { error: shown(error) })).toEqual([])
    expect(forms()).toHaveLength(1)
  })

  it('does not send a refused password again: accounts are locked after a few attempts', async () => {
    const { auth, pass, forms } = provider({ password: 'wrong' })
    for (let file = 0; file < 5; file++) expect(await failureOf(auth.fetch(wanted))).toMatchObject({ actual: 'invalid_grant' })
    await Promise.all(Array.from({ length: 5 }, () => failureOf(auth.fetch(wanted))))
    expect(forms()).toHaveLength(1)
    pass(600_000)
    await failureOf(auth.fetch(wanted))
    expect(forms()).toHaveLength(2)
  })

  it('sends another password at once, and the same one for a login that is requested', async () => {
    let password = 'wrong'
    const { auth, forms } = provider({ password: async () => password })
    await failureOf(auth.fetch(wanted))
    await failureOf(auth.login('oauth', {}))
    expect(forms()).toHaveLength(2)
    password = secrets.password.value
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(forms()).toHaveLength(3)
  })

  it('keeps the tokens of one realm apart from those of another', async () => {
    const kept = new Map<string, string>()
    const session = {
      read: async (key: string) => kept.get(key),
      write: async (key: string, text: string) => void kept.set(key, text),
      remove: async (key: string) => void kept.delete(key),
      exclusively: async <T>(_key: string, run: () => Promise<T>) => run(),
    }
    const servers = () => routes({ [TOKEN_URL]: { body: { access_token: 't', token_type: 'Bearer' } }, [F]: { body: 'data' } })
    for (const realm of ['a', 'b', 'a']) {
      const { auth } = victim({ credentials: unchecked({ ...account, tokenParameters: { realm } }), session }, servers())
      await auth.fetch(wanted)
    }
    expect(kept.size).toBe(2)
  })
})
