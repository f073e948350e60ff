import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { vapid } from '../../../src/strategies/http/schemes.ts'
import { readyStep, stepsOf, wordContext } from '../../harness/auth-flow.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { unchecked } from '../../harness/unchecked.ts'
import type { AnsweringServer } from '../../servers/answering-server.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'
import { isVapid, keyOf, vapidGuard } from '../../servers/vapid-guard.ts'

const SUBJECT = 'mailto:push@example.com'
const sender = testKey.p256()
const entry = { privateKey: sender.pem, subject: SUBJECT }
const get = (url: string) => ({ method: 'GET', url, headers: {} })

/** RFC 8292 §2.4. */
const RFC = {
  t:
    'eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwd' +
    'XNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA',
  k: 'BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs',
  exp: 1453523768,
}

async function header(context: ReturnType<typeof wordContext>, url = 'https://push.example.net/p/1?q'): Promise<string> {
  const [step] = await stepsOf(vapid.authorize(get(url), context))
  return step?.request.headers.authorization ?? ''
}

describe('vapid', () => {
  it('signs the text of RFC 8292 §2.4', async () => {
    const clock = { now: () => (RFC.exp - 12 * 3600) * 1000 }
    const sent = await header(wordContext('vapid', entry, { clock }))
    const [, signed] = /^vapid t=([^.]+\.[^.]+)\.[^,]+, k=/.exec(sent) ?? []
    expect(signed).toBe(RFC.t.slice(0, RFC.t.lastIndexOf('.')))
    expect(isVapid(sent, sender.publicKey, 'https://push.example.net', RFC.exp - 1)).toBe(true)
  })

  it('vapid is verified by what verifies the example of the RFC, and refuses it when it is not quite that', () => {
    const key = keyOf(RFC.k)
    if (!key) throw new Error('the key of the RFC was not read')
    const verdict = (t: string, audience = 'https://push.example.net', now = RFC.exp - 3600) =>
      isVapid(`vapid t=${t}, k=${RFC.k}`, key, audience, now)
    expect(verdict(RFC.t)).toBe(true)
    expect(verdict(RFC.t, 'https://other.example')).toBe(false)
    expect(verdict(RFC.t, undefined, RFC.exp)).toBe(false)
    expect(verdict(RFC.t, undefined, RFC.exp - 86_401)).toBe(false)
    expect(verdict(RFC.t.replace('i3CYb', 'i3CYc'))).toBe(false)
    expect(isVapid(`vapid t=${RFC.t}, k=${RFC.k}`, sender.publicKey, 'https://push.example.net', RFC.exp - 1)).toBe(false)
  })

  it('uses a token again, for its origin and until five minutes before its end', async () => {
    let now = 1_800_000_000_000
    const context = wordContext('vapid', entry, { clock: { now: () => now } })
    const first = await header(context)
    now += (12 * 3600 - 301) * 1000
    expect(await header(context, 'https://push.example.net/other')).toBe(first)
    expect(await header(context, 'https://push.example.net:8443/')).not.toBe(first)
    now += 1000
    const second = await header(context)
    expect(second).not.toBe(first)
    expect(isVapid(second, sender.publicKey, 'https://push.example.net', now / 1000)).toBe(true)
  })

  it('reports when the request ends, and drops a token that was refused', async () => {
    const context = wordContext('vapid', entry)
    const step = await readyStep(vapid.authorize(get('https://a.example/'), context))
    expect(step?.expiresAt).toBe(1_800_000_000_000 + 12 * 3600 * 1000)
    const again = await stepsOf(vapid.authorize(get('https://a.example/'), context), [{ status: 403 }])
    expect(again.map(({ request }) => request)).toEqual([step?.request])
    expect(await header(context, 'https://a.example/')).not.toBe(step?.request.headers.authorization)
  })

  it.each(['mailto:ada', 'ada@example.com', 'http://a.example/', 'https://', 'mailto:a@b c', ''])(
    'needs a subject, not "%s"',
    async (subject) => {
      const credentials = { type: 'http', scheme: 'vapid', privateKey: 'k', subject, sendTo: 'https://a.example/' }
      const wanted = target({ type: 'http', scheme: 'vapid' }, 'https://a.example/')
      const error = await failureOf(createAuth({ credentials: unchecked(credentials) }).authorize(wanted))
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/subject' })
    },
  )

  it.each([
    ['RSA', testKey.rsa().pem],
    ['Ed25519', testKey.ed25519().pem],
    ['text', 'hunter2-hunter2'],
  ])('needs a P-256 key, not %s', async (_name, privateKey) => {
    const error = await failureOf(stepsOf(vapid.authorize(get('https://a.example/'), wordContext('vapid', { ...entry, privateKey }))))
    expect(error).toMatchObject({ name: 'CredentialError', code: 'CREDENTIAL_VALUE_INVALID' })
    expect(JSON.stringify(error)).not.toContain(privateKey.slice(0, 8))
  })
})

describe('vapid against a server', () => {
  let server: AnsweringServer
  beforeAll(async () => {
    server = await startProtectedFiles({ '/f.tif': { content: 'data', guard: vapidGuard(sender.publicKey) } })
  })
  afterAll(() => server.close())

  const fetched = (fields: object) => {
    const url = `${server.origin}/f.tif`
    const auth = createAuth({ credentials: unchecked({ type: 'http', scheme: 'vapid', sendTo: `${server.origin}/`, ...fields }) })
    return auth.fetch(target({ type: 'http', scheme: 'vapid' }, url))
  }

  it.each([
    ['PEM', sender.pem],
    ['JWK', sender.jwk],
  ])('vapid against a server opens with a key in %s', async (_form, privateKey) => {
    expect(await (await fetched({ privateKey, subject: 'https://example.com/contact' })).text()).toBe('data')
  })

  it('vapid with another key is refused by a server', async () => {
    expect(await failureOf(fetched({ ...entry, privateKey: testKey.p256().pem }))).toMatchObject({ code: 'AUTH_REJECTED', status: 403 })
  })
})
