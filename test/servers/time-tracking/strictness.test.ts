import { request as openTls } from 'node:https'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TEST_CA } from '../harness.ts'
import { rawRequest } from '../service/raw-request.ts'
import { type Asked, ask } from './ask.ts'
import { ADA, KNOWN } from './options.ts'
import { startTimeTrackingFake, type TimeTrackingFake } from './time-tracking-fake.ts'

let fake: TimeTrackingFake
beforeEach(async () => {
  fake = await startTimeTrackingFake({ insecure: true })
})
afterEach(() => fake.close())

const LOGIN = String(new URLSearchParams({ email: ADA.email, password: ADA.password, account_id: '7' }))
const login = (form = LOGIN, headers: Asked['headers'] = {}) =>
  ask(fake, 'POST /auth', { form, headers: { authorization: undefined, ...headers } })

describe('what no correct client sends', () => {
  it.each<[string, string, Asked, number, RegExp]>([
    ['a verb that the service does not have', 'PUT /projects/60', { form: 'name=a' }, 405, /a verb that/],
    ['a patch', 'PATCH /customers/121', { form: 'name=a' }, 405, /a verb that/],
    ['JSON', 'POST /projects', { form: '{"name":"a"}', type: 'application/json' }, 415, /a body of type application\/json/],
    ['a multipart form', 'POST /projects', { form: '--a--', type: 'multipart/form-data; boundary=a' }, 415, /a body of type multipart/],
    ['another charset', 'POST /projects', { form: 'name=a', type: 'application/x-www-form-urlencoded; charset=latin1' }, 415, /latin1/],
    ['a lonely percent sign', 'POST /projects', { form: 'name=100%' }, 400, /no UTF-8/],
    ['bytes that are no UTF-8', 'POST /projects', { form: 'name=%fc' }, 400, /no UTF-8/],
    ['raw blanks', 'POST /projects', { form: 'name=a b' }, 400, /a raw blank/],
    ['a field twice', 'POST /projects', { form: 'name=a&name=b' }, 400, /"name" twice/],
    ['a field that projects do not have', 'POST /projects', { form: 'name=a&colour=red' }, 400, /the unknown field colour/],
    ['a field that customers do not have', 'POST /customers/121', { form: 'name=a&city=b' }, 400, /the unknown field city/],
    ['an unknown parameter', 'GET /projects?page=1', {}, 400, /the unknown parameter page/],
    ['a body on GET', 'GET /projects', { form: 'a=b' }, 400, /a body on GET/],
    ['a body on DELETE', 'DELETE /projects/60', { form: 'a=b' }, 400, /a body on DELETE/],
    ['no User-Agent', 'GET /projects', { headers: { 'user-agent': undefined } }, 400, /no user-agent/],
    ['no token', 'GET /projects', { headers: { authorization: undefined } }, 401, /no credential/],
    ['the other field as well', 'GET /projects', { headers: { 'x-api-token': KNOWN.token } }, 400, /a x-api-token field/],
    ['a cookie', 'GET /projects', { headers: { cookie: 'a=b' } }, 400, /a cookie field/],
    ['the token in the address', `GET /projects?token=${KNOWN.token}`, {}, 400, /the token in the address/],
    ['the token in the body', 'POST /projects', { form: `name=${KNOWN.token}` }, 400, /the token in the body/],
    ['a token at the login', 'POST /auth', { form: LOGIN }, 400, /a token at the login/],
    ['an unknown path', 'GET /../v2/projects', {}, 404, /an unknown path/],
  ])('%s', async (_what, line, asked, status, violation) => {
    expect((await ask(fake, line, asked)).status).toBe(status)
    expect(fake.violations.join('\n')).toMatch(violation)
    expect(() => fake.assertClean()).toThrow(violation)
  })

  it('a method that the resource lacks is answered with the allowed methods', async () => {
    expect((await ask(fake, 'PUT /projects/60', { form: 'name=a' })).headers.allow).toBe('GET, POST, DELETE')
    expect((await ask(fake, 'PUT /tasks')).headers.allow).toBe('GET, POST, DELETE')
  })

  it('does not pass when nothing is wrong', async () => {
    expect((await ask(fake, 'GET /projects')).status).toBe(200)
    fake.assertClean()
  })
})

describe('the token', () => {
  it('the token is destroyed for good by another User-Agent', async () => {
    expect((await ask(fake, 'GET /projects', { headers: { 'user-agent': 'curl/8' } })).status).toBe(401)
    expect((await ask(fake, 'GET /projects')).status).toBe(401)
    expect(fake.state.tokens.size).toBe(0)
  })

  it('dies after 30 days without use, and not before', async () => {
    for (const days of [29, 29]) {
      fake.clock.advance(days * 86_400_000)
      expect((await ask(fake, 'GET /projects')).status).toBe(200)
    }
    fake.clock.advance(31 * 86_400_000)
    expect((await ask(fake, 'GET /projects')).status).toBe(401)
  })

  it.each(['wrong', `${KNOWN.token}x`])('the token is no %s', async (token) => {
    expect((await ask(fake, 'GET /projects', { headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
    expect((await ask(fake, 'GET /projects')).status).toBe(200)
  })

  it('the token is taken back once', async () => {
    const first = await ask(fake, 'GET /auth/revoke')
    expect([first.status, first.text]).toEqual([200, ''])
    expect((await ask(fake, 'GET /auth/revoke')).status).toBe(401)
    expect(fake.requests('revoke')).toBe(2)
  })

  it.each([
    ['bare', { authorization: KNOWN.token }],
    ['x-api-token', { authorization: undefined, 'x-api-token': KNOWN.token }],
  ] as const)('the token is expected where the option says: %s', async (tokenField, headers) => {
    const other = await startTimeTrackingFake({ insecure: true, tokenField })
    expect((await ask(other, 'GET /projects')).status).not.toBe(200)
    other.reset()
    expect((await ask(other, 'GET /projects', { headers })).status).toBe(200)
    other.assertClean()
    await other.close()
  })
})

describe('the login', () => {
  it('returns a token that is bound to its User-Agent', async () => {
    const { status, json } = await login(LOGIN, { 'user-agent': 'another-tool' })
    expect([status, json]).toEqual([200, { token: expect.stringMatching(/^[\da-f]{40}$/), account_id: 7 }])
    const authorization = `Bearer ${(json as { token: string }).token}`
    expect((await ask(fake, 'GET /projects', { headers: { authorization, 'user-agent': 'another-tool' } })).status).toBe(200)
    expect((await ask(fake, 'GET /projects', { headers: { authorization } })).status).toBe(401)
    fake.assertClean()
  })

  it.each(['email=ada%40acme.example&password=wrong&account_id=7', `${LOGIN}0`, ''])('refuses %j', async (form) => {
    expect((await login(form)).status).toBe(401)
  })

  it('the login has a limit of its own', async () => {
    const statuses: number[] = []
    for (let count = 0; count < 6; count++) statuses.push((await login()).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    expect((await login()).headers['retry-after']).toBe('60')
    expect((await ask(fake, 'GET /projects')).status).toBe(200)
    fake.clock.advance(60_000)
    expect((await login()).status).toBe(200)
  })
})

describe('encryption', () => {
  it('encryption is there by default, and the other port refuses and remembers', async () => {
    const encrypted = await startTimeTrackingFake()
    expect(encrypted.base).toMatch(/^https:.*\/v1$/)
    expect(await overTls(`${encrypted.base}/projects`)).toBe(200)
    const { status, json } = await rawRequest('GET', `${encrypted.plain.url}/v1/projects`, { headers: { 'user-agent': 'a' } })
    expect([status, json]).toEqual([403, { status: 403, message: 'HTTPS required' }])
    expect(encrypted.plain.requests()).toBe(1)
    expect(() => encrypted.assertClean()).toThrow('/v1/projects')
    await encrypted.close()
  })
})

function overTls(url: string): Promise<number | undefined> {
  const headers = { 'user-agent': KNOWN.userAgent, authorization: `Bearer ${KNOWN.token}` }
  return new Promise((resolve, reject) => {
    const request = openTls(url, { ca: TEST_CA, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    request.on('error', reject).end()
  })
}
