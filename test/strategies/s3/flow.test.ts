import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/auth/credential.ts'
import { MemorySessions, memoryStore } from '../../../src/auth/session.ts'
import type { AuthContext, AuthStep } from '../../../src/auth/strategy.ts'
import { parseUrlPattern } from '../../../src/auth/url-pattern.ts'
import type { HttpRequest, HttpResponse } from '../../../src/http/message.ts'
import type { S3Keys } from '../../../src/platform/platform.ts'
import type { S3Scheme } from '../../../src/stac/scheme.ts'
import type { S3Credential } from '../../../src/strategies/s3/endpoint.ts'
import { s3 } from '../../../src/strategies/s3/s3.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

function contextWith(fields: Partial<S3Credential>, url: string, now = () => NOW): AuthContext<S3Scheme, S3Credential> {
  const clock = { now }
  const own = fields.keys ? {} : { accessKeyId: new Secret('AKID'), secretAccessKey: new Secret('secret') }
  return {
    scheme: { type: 's3' },
    credential: { id: 'mine', type: 's3', sendTo: [parseUrlPattern('s3://eo/')], preference: 0, ...own, ...fields },
    resource: { url },
    session: new MemorySessions(clock).view('mine'),
    send: () => Promise.reject(new Error('no side requests')),
    connect: () => Promise.reject(new Error('no connections')),
    stores: { persistent: memoryStore(), inMemory: memoryStore() },
    clock,
    random: (bytes) => new Uint8Array(bytes),
    warn: () => {},
    changed: () => {},
  }
}

function answer(status: number, headers: Record<string, string> = {}, body = ''): HttpResponse {
  const bytes = async () => new TextEncoder().encode(body)
  return {
    status,
    url: 'https://answer.example/',
    headers: { get: (name) => headers[name] ?? null },
    bytes,
    text: async () => body,
    discard: async () => {},
    toResponse: () => new Response(body, { status }),
  }
}

const refusal = (code: string, more = '') => `<?xml version="1.0"?><Error><Code>${code}</Code>${more}</Error>`

/** The requests that a flow makes when it gets these answers. */
async function requestsOf(
  context: AuthContext<S3Scheme, S3Credential>,
  answers: readonly HttpResponse[],
  request: Partial<HttpRequest> = {},
) {
  const flow = s3.authorize({ method: 'GET', url: context.resource.url, headers: {}, ...request }, context)
  const steps: AuthStep[] = []
  let step = await flow.next(undefined as never)
  for (const one of answers) {
    if (step.done) throw new Error('the flow ended early')
    steps.push(step.value)
    step = await flow.next(one)
  }
  expect(step.done).toBe(true)
  return steps.map(({ request: sent }) => sent)
}

const regionOf = ({ headers }: HttpRequest) => headers.authorization?.split('/')[2]

describe('a bucket in another region of Amazon’s', () => {
  const elsewhere = answer(301, { 'x-amz-bucket-region': 'ap-south-1' })

  it('a bucket in another region of Amazon’s is asked for there, for the bucket was granted', async () => {
    const context = contextWith({}, 's3://eo/k')
    const [first, second] = await requestsOf(context, [elsewhere, answer(200)])
    expect(first?.url).toBe('https://eo.s3.us-east-1.amazonaws.com/k')
    expect(second?.url).toBe('https://eo.s3.ap-south-1.amazonaws.com/k')
    expect([first, second].map((request) => request && regionOf(request))).toEqual(['us-east-1', 'ap-south-1'])
    const [third] = await requestsOf(context, [answer(200)])
    expect(third?.url).toBe(second?.url)
  })

  it.each([
    [307, { 'x-amz-bucket-region': 'ap-south-1', location: 'https://eo.s3.ap-south-1.amazonaws.com/k' }, refusal('TemporaryRedirect')],
    [307, { 'x-amz-bucket-region': 'ap-south-1', location: 'https://evil.example/eo/k' }, refusal('TemporaryRedirect')],
    [400, { 'x-amz-bucket-region': 'ap-south-1' }, ''],
    [400, {}, refusal('AuthorizationHeaderMalformed', '<Region>ap-south-1</Region>')],
    [301, {}, refusal('PermanentRedirect', '<Region>ap-south-1</Region>')],
  ])('a bucket in another region of Amazon’s is known from a %i with %j', async (status, headers, body) => {
    const [, second] = await requestsOf(contextWith({}, 's3://eo/k'), [answer(status, headers, body), answer(200)])
    expect(second?.url).toBe('https://eo.s3.ap-south-1.amazonaws.com/k')
    expect(second && regionOf(second)).toBe('ap-south-1')
  })

  it('a bucket in another region of Amazon’s is not learned from a refusal of access', async () => {
    const refused = answer(403, { 'x-amz-bucket-region': 'ap-south-1' }, refusal('AccessDenied', '<Region>ap-south-1</Region>'))
    await expect(requestsOf(contextWith({}, 's3://eo/k'), [refused])).rejects.toMatchObject({
      code: 'AUTH_REJECTED',
      hint: expect.stringContaining('may not list the bucket'),
    })
  })

  it('a bucket in another region of Amazon’s is not followed out of the grant', async () => {
    const context = contextWith(
      { sendTo: [parseUrlPattern('https://eo.s3.eu-west-1.amazonaws.com/')] },
      'https://eo.s3.eu-west-1.amazonaws.com/k',
    )
    await expect(requestsOf(context, [elsewhere])).rejects.toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
  })

  it('a bucket in another region of Amazon’s is looked for once', async () => {
    const again = answer(301, { 'x-amz-bucket-region': 'eu-west-3' })
    await expect(requestsOf(contextWith({}, 's3://eo/k'), [elsewhere, again])).rejects.toMatchObject({ code: 'HTTP_301' })
  })

  it('never takes a region that is none', async () => {
    const hostile = answer(301, { 'x-amz-bucket-region': 'x.evil.example/' })
    const context = contextWith({ region: 'eu-west-1' }, 's3://eo/k')
    await expect(requestsOf(context, [hostile, hostile])).rejects.toMatchObject({ code: 'HTTP_301' })
    expect(context.session.get('region aws eo')?.value).toBe('x.evil.example/')
    expect(s3.peek?.({ method: 'GET', url: 's3://eo/k', headers: {} }, context)?.request.url ?? '').not.toContain('evil')
  })

  it('a bucket in another region of Amazon’s is not what a plain redirect says', async () => {
    const redirect = answer(307, { location: 'https://evil.example/eo/k' })
    expect(await requestsOf(contextWith({}, 's3://eo/k'), [redirect])).toHaveLength(1)
  })
})

describe('keys from a source', () => {
  const keys = (id: string, more: Partial<S3Keys> = {}): S3Keys => ({
    accessKeyId: id,
    secretAccessKey: 's',
    sessionToken: `token-${id}`,
    ...more,
  })
  const expired = answer(400, {}, refusal('ExpiredToken'))
  const idOf = ({ headers }: HttpRequest) => /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1]

  it.each([
    ['five minutes before their end', 3_600_000, 3_300_000],
    ['in the middle of what is left, when that is short', 299_000, 149_500],
  ])('keys from a source are requested again %s', async (_when, life, refresh) => {
    let now = NOW
    let asked = 0
    const context = contextWith({ keys: async () => keys(`K${++asked}`, { expiration: NOW + life }) }, 's3://eo/k', () => now)
    await requestsOf(context, [answer(200)])
    now += refresh - 1
    await requestsOf(context, [answer(200)])
    expect(asked).toBe(1)
    now += 1
    await requestsOf(context, [answer(200)])
    expect(asked).toBe(2)
  })

  it('keys from a source are requested once more when the service says they ended', async () => {
    let asked = 0
    const context = contextWith({ keys: async () => keys(`K${++asked}`) }, 's3://eo/k')
    const requests = await requestsOf(context, [expired, answer(200)])
    expect(requests.map(idOf)).toEqual(['K1', 'K2'])
  })

  it('keys from a source are not tried a second time when they are the same', async () => {
    const context = contextWith({ keys: async () => keys('SAME') }, 's3://eo/k')
    await expect(requestsOf(context, [expired])).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
  })

  it('bring their region', async () => {
    const context = contextWith({ keys: async () => keys('K', { region: 'eu-south-1' }) }, 's3://eo/k')
    expect((await requestsOf(context, [answer(200)])).map(({ url }) => url)).toEqual(['https://eo.s3.eu-south-1.amazonaws.com/k'])
  })

  it('keys from a source end before the signature does', async () => {
    const context = contextWith({ keys: async () => keys('K', { expiration: NOW + 60_000 }) }, 's3://eo/k')
    const step = await s3.authorize({ method: 'GET', url: 's3://eo/k', headers: {} }, context).next(undefined as never)
    expect(step.value).toMatchObject({ expiresAt: NOW + 60_000 })
  })
})

describe('the clock', () => {
  const date = (text: string) => ({ date: new Date(text).toUTCString() })

  it('follows the Date of RequestTimeTooSkewed, or the time in its body', async () => {
    const tooSkewed = refusal('RequestTimeTooSkewed', '<ServerTime>2026-11-20T12:20:00Z</ServerTime>')
    for (const headers of [date('2026-11-20T12:20:00Z'), {}]) {
      const [, second] = await requestsOf(contextWith({}, 's3://eo/k'), [answer(403, headers, tooSkewed), answer(200)])
      expect(second?.headers['x-amz-date']).toBe('20261120T122000Z')
    }
  })

  it('the clock is corrected as well where the service names another code and is ten minutes off', async () => {
    for (const code of ['AuthFailure', 'RequestExpired']) {
      const off = answer(403, date('2026-11-20T12:10:00Z'), refusal(code))
      const [, second] = await requestsOf(contextWith({}, 's3://eo/k'), [off, answer(200)])
      expect(second?.headers['x-amz-date']).toBe('20261120T121000Z')
    }
  })

  it('the clock is corrected once', async () => {
    const off = answer(403, date('2026-11-20T12:10:00Z'), refusal('RequestTimeTooSkewed'))
    await expect(requestsOf(contextWith({}, 's3://eo/k'), [off, off])).rejects.toMatchObject({
      code: 'CLOCK_SKEW',
      message: expect.stringContaining('differ by 600 seconds: 403 RequestTimeTooSkewed'),
    })
  })

  it('the clock is not corrected by more than a day', async () => {
    for (const code of ['AuthFailure', 'RequestExpired', 'RequestTimeTooSkewed']) {
      const off = answer(403, date('2026-11-22T12:00:01Z'), refusal(code))
      await expect(requestsOf(contextWith({}, 's3://eo/k'), [off])).rejects.toMatchObject({ code: 'CLOCK_SKEW', credential: 'mine' })
    }
  })

  it('the clock is left unchanged by a Date that is missing or absurd', async () => {
    for (const absurd of [undefined, 'next Tuesday', '']) {
      const off = answer(403, absurd === undefined ? {} : { date: absurd }, refusal('AuthFailure'))
      await expect(requestsOf(contextWith({}, 's3://eo/k'), [off])).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
    }
  })

  it('the clock is not blamed for other failures when it is nearly right', async () => {
    const failed = answer(403, date('2026-11-20T12:04:00Z'), refusal('AuthFailure'))
    await expect(requestsOf(contextWith({}, 's3://eo/k'), [failed])).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
  })
})

describe('answers that are no error documents', () => {
  it('answers that are no error documents are refusals without a code', async () => {
    const page = answer(403, {}, '<html><Code>very <b>bad</b></Code></html>')
    await expect(requestsOf(contextWith({}, 's3://eo/k'), [page])).rejects.toMatchObject({
      message: 'answer.example refused "mine" with 403',
    })
    await expect(requestsOf(contextWith({}, 's3://eo/k'), [answer(400, {}, 'no')])).rejects.toMatchObject({ code: 'HTTP_400' })
  })
})
