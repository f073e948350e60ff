import { describe, expect, it } from 'vitest'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { memoryStore, type SessionStore } from '../../../src/auth/session.ts'
import { TimeoutError } from '../../../src/errors.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, entries, TOKEN_URL, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`
const good: Reply = { body: { access_token: 't', token_type: 'Bearer', expires_in: 600 } }
const busy = (status: number, after: string | undefined, error?: string): Reply => ({
  status,
  ...(after !== undefined && { headers: { 'retry-after': after } }),
  body: error === undefined ? '' : { error, error_description: 'try later' },
})

/** A token endpoint that gives these answers, the last one for good; the clock moves only by what is waited. */
function asked(
  replies: readonly Reply[],
  credential: CredentialInput = entries.oauth,
  session: SessionStore = memoryStore(),
  onWait: (duration: number) => void = () => {},
) {
  const clock = new FakeClock({ now: 1_800_000_000_000, waits: 'skipped', onWait })
  let sent = 0
  const servers = routes({ [TOKEN_URL]: () => replies[Math.min(sent++, replies.length - 1)] ?? {}, [F]: { body: 'data' } })
  const { auth } = victim({ credentials: credential, clock, session }, servers)
  return { auth, waited: clock.waits, sent: () => sent }
}

const wanted = target(scheme.client(TOKEN_URL), F)

describe('a token endpoint that is busy', () => {
  it.each([
    [429, 'slow_down'],
    [429, 'rate_limited'],
    [503, 'temporarily_unavailable'],
    [503, undefined],
  ])('a token endpoint that is busy with %d and the error %s is asked again after its Retry-After', async (status, error) => {
    const { auth, waited } = asked([busy(status, '7', error), good])
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(waited).toEqual([7000])
  })

  it.each([
    [undefined, 100],
    ['0', 100],
    ['-5', 100],
    ['soon', 100],
    ['60', 60_000],
    ['0.6', 600],
    [new Date(1_800_000_004_000).toUTCString(), 4000],
  ])('a busy token endpoint with Retry-After %s is asked again after %d ms, or a random time', async (after, milliseconds) => {
    const { auth, waited } = asked([busy(429, after, 'slow_down'), good])
    await auth.fetch(wanted)
    expect(waited).toHaveLength(1)
    expect(waited[0]).toBeGreaterThanOrEqual(milliseconds)
    expect(waited[0]).toBeLessThan(milliseconds + 251)
  })

  it.each(['61', '300', '9999999999'])(
    'a token endpoint that is busy for %s s is not waited for, and the limit is named',
    async (after) => {
      for (const reply of [busy(503, after), busy(429, after, 'slow_down')]) {
        const { auth, waited, sent } = asked([reply, good])
        expect(await failureOf(auth.fetch(wanted))).toMatchObject({
          retryable: true,
          status: reply.status,
          message: expect.stringContaining(`Retry-After of ${after} s exceeds the limit of 60 s`),
        })
        expect([waited, sent()]).toEqual([[], 1])
      }
    },
  )

  it('a token endpoint that is busy is waited for a minute altogether, however often it requests less', async () => {
    const { auth, waited, sent } = asked([busy(503, '25')])
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'HTTP_503', message: expect.stringContaining('limit of 60 s') })
    expect([waited, sent()]).toEqual([[25_000, 25_000], 3])
  })

  it('a token endpoint that is busy is waited for without the lock that others wait for', async () => {
    const events: string[] = []
    const memory = memoryStore()
    const exclusively: SessionStore['exclusively'] = async (key, run, signal) => {
      events.push('locked')
      return memory.exclusively(key, run, signal).finally(() => events.push('unlocked'))
    }
    for (const after of ['5', '45']) {
      const { auth } = asked([busy(503, after), good], entries.oauth, { ...memoryStore(), exclusively }, (duration) =>
        events.push(`waited ${duration}`),
      )
      await auth.fetch(wanted)
    }
    expect(events).toEqual(['locked', 'waited 5000', 'unlocked', 'locked', 'unlocked', 'waited 45000', 'locked', 'unlocked'])
  })

  it.each(['20', undefined])('a token endpoint that refuses requests with Retry-After %s is waited for a minute at most', async (after) => {
    const { auth, waited, sent } = asked([busy(429, after, 'slow_down')])
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'OAUTH_ERROR', status: 429, retryable: true })
    expect(sent()).toBe(waited.length + 1)
    expect(waited.reduce((sum, pause) => sum + pause, 0)).toBeLessThanOrEqual(60_000)
    expect(sent()).toBeGreaterThanOrEqual(4)
  })

  it('a token endpoint that timed out five times is still a timeout while it is not asked', async () => {
    const slow = () => {
      throw new TimeoutError('TIMEOUT_CONNECT', 'no connection', { url: TOKEN_URL, retryable: true })
    }
    const clock = new FakeClock({ now: 1_800_000_000_000, waits: 'skipped' })
    const { auth } = victim({ credentials: entries.oauth, clock }, routes({ [TOKEN_URL]: slow }))
    await failureOf(auth.fetch(wanted))
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toMatchObject({ code: 'TIMEOUT_CONNECT', message: expect.stringContaining('failed 5 times in a row') })
  })

  it.each(['unauthorized_client', 'invalid_grant', 'server_error'])(
    'a token endpoint that is busy is not one that says %s in a 400',
    async (error) => {
      const { auth, sent } = asked([busy(400, '1', error), good])
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'OAUTH_ERROR', retryable: false })
      expect(sent()).toBe(1)
    },
  )

  it('a token endpoint that is busy is never sent a password twice', async () => {
    const account = { flow: 'password', username: 'ada', password: 'p', allowPasswordGrant: true }
    const { auth, waited, sent } = asked([busy(503, '1'), good], unchecked({ ...entries.oauth, ...account }))
    const needed = target({ type: 'oauth2', flows: { password: { tokenUrl: TOKEN_URL, scopes: {} } } }, F)
    expect(await failureOf(auth.fetch(needed))).toMatchObject({ code: 'HTTP_503', retryable: true })
    expect([waited, sent()]).toEqual([[], 1])
  })
})
