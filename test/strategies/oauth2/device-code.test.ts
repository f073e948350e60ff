import { describe, expect, it } from 'vitest'
import type { DevicePrompt } from '../../../src/auth/auth.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, script } from '../../harness/scripted.ts'
import { entries, TOKEN_URL, victim } from '../../harness/victim.ts'

const DEVICE_URL = 'https://auth.victim.example/device'
const NOW = 1_800_000_000_000
const offered = { device_code: 'd', user_code: 'AB-CD', verification_uri: 'https://auth.victim.example/v', expires_in: 600 }
const good: Reply = { body: { access_token: 't', token_type: 'Bearer' } }
const refused = (error: string): Reply => ({ status: 400, body: { error } })

/** A login on another device; its clock moves only by what is waited. The token endpoint says these words, then the last one for good. */
function begun(answer: object, ...words: readonly Reply[]) {
  const prompts: DevicePrompt[] = []
  const waited: number[] = []
  const clock = new FakeClock({ now: NOW, waits: 'skipped', onWait: (duration) => waited.push(duration / 1000) })
  let asked = 0
  const servers = script(({ url }) =>
    url === TOKEN_URL ? words[Math.min(asked++, words.length - 1)] : { body: { ...offered, ...answer } },
  )
  const credentials = { ...entries.login, deviceAuthorizationUrl: DEVICE_URL }
  const { auth } = victim({ credentials, clock }, servers)
  const login = auth.login('login', {
    device: (prompt) => {
      prompts.push(prompt)
    },
  })
  return { login, waited, prompts }
}

describe('O14 a login on another device', () => {
  it.each<[unknown, number]>([
    [undefined, 5],
    [null, 5],
    ['7', 7],
    ['soon', 5],
    [-1, 5],
    [0, 1],
    [0.5, 1],
    [2.5, 2.5],
    [60, 60],
    [61, 60],
    [1e9, 60],
  ])('O14 a login on another device with the interval %j asks every %d seconds', async (interval, seconds) => {
    const { login, waited } = begun({ interval }, refused('authorization_pending'), good)
    await login
    expect(waited).toEqual([seconds, seconds])
  })

  it.each<[string, Reply, number]>([
    ['slows down by five seconds, for good', refused('slow_down'), 10],
    ['goes on when the server is busy, more slowly', { status: 503 }, 10],
    ['goes on when there were too many questions, more slowly', { status: 429 }, 10],
    ['slows down by five seconds also when the status is 429', { status: 429, body: { error: 'slow_down' } }, 10],
    ['goes on when the server is busy and says so in JSON', { status: 503, body: { error: 'temporarily_unavailable' } }, 10],
  ])('%s', async (_name, word, seconds) => {
    const { login, waited } = begun({}, word, refused('authorization_pending'), good)
    await login
    expect(waited).toEqual([5, seconds, seconds])
  })

  it.each<[string, Reply, string]>([
    ['expired_token', refused('expired_token'), 'LOGIN_TIMEOUT'],
    ['access_denied', refused('access_denied'), 'LOGIN_DENIED'],
    ['invalid_grant', refused('invalid_grant'), 'OAUTH_ERROR'],
    ['a page', { body: '<html>' }, 'OAUTH_RESPONSE_INVALID'],
    ['a status that stays', { status: 403 }, 'HTTP_403'],
  ])('ends with %s', async (_name, word, code) => {
    const { login, waited } = begun({}, word, good)
    expect(await failureOf(login)).toMatchObject({ code, credential: 'login' })
    expect(waited).toEqual([5])
  })

  it.each([
    ['unauthorized_client', { status: 400, body: { error: 'unauthorized_client' } }],
    ['invalid_client', { status: 401, body: { error: 'invalid_client' } }],
    ['unsupported_grant_type', { status: 400, body: { error: 'unsupported_grant_type' } }],
    ['a status', { status: 404 }],
  ] as const)('O14 a login on another device that the server refuses with %s says that there is --browser', async (_name, reply) => {
    const servers = script(() => reply)
    const { auth } = victim({ credentials: { ...entries.login, deviceAuthorizationUrl: DEVICE_URL } }, servers)
    const error = await failureOf(auth.login('login', { device: () => {} }))
    expect(error).toMatchObject({
      credential: 'login',
      status: reply.status,
      hint: expect.stringContaining('stac-auth login login --browser'),
    })
  })

  it('O14 a device login that is refused for this client while it waits suggests --browser', async () => {
    const error = await failureOf(begun({}, refused('unauthorized_client'), good).login)
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', hint: expect.stringContaining('stac-auth login login --browser') })
  })

  it.each([
    [600, 119],
    [0, 11],
    [1e9, 359],
  ])('O14 a device login that no one finishes ends by itself: lifetime %d s, %d questions', async (expires_in, questions) => {
    const { login, waited } = begun({ expires_in }, refused('authorization_pending'))
    expect(await failureOf(login)).toMatchObject({ code: 'LOGIN_TIMEOUT', credential: 'login' })
    expect(waited).toHaveLength(questions)
  })

  it.each([
    { verification_uri: 'javascript:alert(1)' },
    { verification_uri: 'http://auth.victim.example/v' },
    { verification_uri: 'https://u@auth.victim.example/v' },
    { user_code: 'A\u001b[2J' },
    { user_code: ' A' },
    { user_code: '' },
  ])('shows nothing of %j', async (answer) => {
    const { login, prompts } = begun(answer, good)
    expect(await failureOf(login)).toMatchObject({ code: 'OAUTH_RESPONSE_INVALID' })
    expect(prompts).toEqual([])
  })
})
