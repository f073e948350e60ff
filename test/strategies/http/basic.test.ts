import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import { credentialsFromText } from '../../../src/node/credentials/credential-file.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../../servers/answering-server.ts'
import { sameText } from '../../servers/guards.ts'

const ACCOUNT = { username: 'Jäsøn', password: 'Öffne dich' }

let server: AnsweringServer | undefined
afterEach(() => server?.close())

/** Lets one account pass, as the octets of a charset; `charset` is what its challenge says of it. */
function octetGuard(username: string, password: string, encoding: 'utf8' | 'latin1', charset = ''): (request: Inquiry) => Answer {
  const expected = `Basic ${Buffer.from(`${username}:${password}`, encoding).toString('base64')}`
  return ({ headers }) => {
    if (sameText(headers.authorization ?? '', expected)) return { status: 200, body: 'data' }
    return { status: 401, headers: { 'www-authenticate': `Basic realm="files"${charset}` } }
  }
}

async function facing(answerTo: (request: Inquiry) => Answer, fields: Partial<CredentialObject> = ACCOUNT) {
  const started = await startAnswering(answerTo)
  server = started
  const sendTo = `${started.origin}/`
  const auth = createAuth({ credentials: unchecked({ id: 'mine', type: 'http', scheme: 'basic', ...fields, sendTo }) })
  const file = target({ type: 'http', scheme: 'basic' }, `${sendTo}f.tif`)
  const statuses = () => started.exchanges.map(({ answer }) => answer.status)
  return { auth, file, statuses, get: async () => (await auth.fetch(file)).text() }
}

describe('an account outside ASCII', () => {
  it('an account outside ASCII is sent as UTF-8, then as ISO-8859-1 where no charset is named', async () => {
    const utf8 = await facing(octetGuard(ACCOUNT.username, ACCOUNT.password, 'utf8'))
    for (let round = 0; round < 2; round++) expect(await utf8.get()).toBe('data')
    expect(utf8.statuses()).toEqual([200, 200])
    await server?.close()
    const latin1 = await facing(octetGuard(ACCOUNT.username, ACCOUNT.password, 'latin1'))
    for (let round = 0; round < 3; round++) expect(await latin1.get()).toBe('data')
    expect(latin1.statuses()).toEqual([401, 200, 200, 200])
  })

  it('an account outside ASCII may come from a function, and is returned in the encoding that worked', async () => {
    const guard = octetGuard(ACCOUNT.username, ACCOUNT.password, 'latin1')
    const { auth, file, get } = await facing(guard, { ...ACCOUNT, password: async () => ACCOUNT.password })
    expect(await get()).toBe('data')
    const { url, headers } = await auth.authorize(file)
    expect((await fetch(url, { headers })).status).toBe(200)
  })

  it.each<[string, string, string]>([
    ['the server says UTF-8', 'Öffne dich', ', charset="UTF-8"'],
    ['it has no form in ISO-8859-1', 'открой €', ''],
    ['it is ASCII', 'open', ''],
  ])('an account outside ASCII is sent once where %s', async (_why, password, charset) => {
    const { get, statuses } = await facing(octetGuard('ada', 'another', 'utf8', charset), { username: 'ada', password })
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    expect(statuses()).toEqual([401])
  })

  it('an account outside ASCII is sent once where the server requests another scheme, or for nothing', async () => {
    for (const answer of [{ status: 401, headers: { 'www-authenticate': 'Bearer' } }, { status: 401 }, { status: 403 }]) {
      const { get, statuses } = await facing(() => answer)
      expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED' })
      expect(statuses()).toHaveLength(1)
      await server?.close()
    }
  })

  it('a wrong account outside ASCII is tried in both encodings, and in one once an encoding was accepted', async () => {
    const passwords = ['Öffne dich nicht', ACCOUNT.password, 'Öffne dich nicht']
    let password = passwords[0] ?? ''
    const { get, statuses } = await facing((request) => octetGuard(ACCOUNT.username, password, 'utf8')(request))
    const error = await failureOf(get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(leaks([canaryOf(ACCOUNT.password)], { error: shown(error) })).toEqual([])
    password = ACCOUNT.password
    expect(await get()).toBe('data')
    password = 'Öffne dich nicht'
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(statuses()).toEqual([401, 401, 200, 401])
  })
})

describe('an empty password', () => {
  const withKey = (fields: Partial<CredentialObject>) =>
    facing(octetGuard('key-of-mine', '', 'utf8'), { username: 'key-of-mine', ...fields })

  it('an empty password is sent where the credential says that it is empty', async () => {
    const { auth, file, get } = await withKey({ emptyPassword: true })
    expect(await get()).toBe('data')
    expect(auth.peek(file)?.headers.authorization).toBe(`Basic ${Buffer.from('key-of-mine:').toString('base64')}`)
  })

  it('an empty password is sent for a credential of a credential file', async () => {
    const { file } = await withKey({ emptyPassword: true })
    const entry = { id: 'key', type: 'http', scheme: 'basic', username: 'key-of-mine', emptyPassword: true, sendTo: [`${server?.origin}/`] }
    const credentials = await credentialsFromText(JSON.stringify({ version: 1, credentials: [entry] }), 'file')
    expect(await (await createAuth({ credentials }).fetch(file)).text()).toBe('data')
  })

  it('an empty password that the credential or a source gives is a mistake: nothing is sent', async () => {
    for (const password of ['', () => '', async () => '']) {
      const { get, statuses } = await withKey({ password })
      expect(await failureOf(get())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', message: expect.stringContaining('is empty') })
      expect(statuses()).toEqual([])
      await server?.close()
    }
  })

  it.each<[string, Partial<CredentialObject>, string]>([
    ['there is a password', { password: 'open', emptyPassword: true }, '/credentials/0/password'],
    ['it is not', { emptyPassword: false }, '/credentials/0/emptyPassword'],
    ['it is both not and there', { password: 'open', emptyPassword: false }, '/credentials/0/password'],
    ['it is a text', { emptyPassword: 'true' }, '/credentials/0/emptyPassword'],
    ['nothing is said', {}, '/credentials/0/password'],
    ['the scheme is another one', { scheme: 'digest', emptyPassword: true }, '/credentials/0/emptyPassword'],
  ])('an empty password is CONFIG_INVALID where %s', async (_why, fields, pointer) => {
    const { get, statuses } = await withKey(fields)
    expect(await failureOf(get())).toMatchObject({ code: 'CONFIG_INVALID', pointer })
    expect(statuses()).toEqual([])
  })

  it('needs a user name', async () => {
    const { get, statuses } = await withKey({ username: '', emptyPassword: true })
    expect(await failureOf(get())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
    expect(statuses()).toEqual([])
  })
})
