import { describe, expect, it } from 'vitest'
import { ApiClient, type ApiClientOptions } from '../../src/services/client/api-client.ts'
import { ServiceLimits } from '../../src/services/client/pacer.ts'
import { TimeTrackingClient, type TimeTrackingOptions } from '../../src/services/time-tracking/time-tracking-client.ts'
import { TranslationClient } from '../../src/services/translation/translation-client.ts'
import type { TranslationClientOptions } from '../../src/services/translation/translation-service.ts'
import { jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { afterEveryTest } from '../setup/hooks.ts'

const open: { close(): Promise<void> }[] = []
afterEveryTest(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

/** A service that counts the requests that reach it. */
async function service() {
  const seen = { requests: 0 }
  const server = await startAnswering(() => {
    seen.requests++
    return jsonAnswer(200, { character_count: 0, character_limit: 1 })
  })
  open.push(server)
  return { seen, common: { baseUrl: `${server.origin}/v1`, allowInsecure: 'loopback' } }
}

/** Programs without types write what TypeScript refuses. */
const first = {
  api: (options: object) => new ApiClient(options as ApiClientOptions).request('GET', '/things'),
  translation: (options: object) => new TranslationClient({ apiKey: 'key', ...options } as TranslationClientOptions).usage(),
  timeTracking: (options: object) =>
    new TimeTrackingClient({ token: 'token', ...options } as TimeTrackingOptions).request('GET', '/things'),
}

describe('options of clients in JavaScript', () => {
  it.each([
    [{ credentials: [] }, 'ApiClient has no option "credentials"', 'did you mean "credential"?'],
    [{ auth: 5 }, 'the option auth of ApiClient must be an engine of createAuth', undefined],
    [{ credential: 'token' }, 'the option credential of ApiClient must be a credential', undefined],
    [{ queueLimit: Number.NaN }, 'the option queueLimit of ApiClient must be a number of 0 or more', undefined],
    [{ retries: -1 }, 'the option retries of ApiClient must be a number of 0 or more', undefined],
    [{ timeouts: 5 }, 'the option timeouts of ApiClient must be an object', undefined],
    [{ timeouts: { atempt: 5 } }, 'timeouts has no option "atempt"', 'did you mean "attempt"?'],
    [{ hooks: { requests() {} } }, 'hooks has no option "requests"', 'did you mean "request"?'],
    [{ form: { arrays: 'list' } }, /^the option arrays of form must be "indices" or /, undefined],
    [{ headers: new Headers({ 'x-a': 'b' }) }, 'the option headers of ApiClient must be an object of header names and values', undefined],
    [{ headers: { 'x-a': 'b\nc' } }, 'the option headers of ApiClient must be an object of header names and values', undefined],
    [{ userAgent: 5 }, 'the option userAgent of ApiClient must be a string that a header may have', undefined],
    [{ limits: new ServiceLimits({ rate: Number.NaN }) }, 'the option rate of ServiceLimits must be a number above 0', undefined],
    [{ limits: new ServiceLimits({ rate: 0 }) }, 'the option rate of ServiceLimits must be a number above 0', undefined],
  ])('refuses %o with the first call, before anything is sent', async (options, message, hint) => {
    const { seen, common } = await service()
    await expect(first.api({ ...common, ...options })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      attempts: 0,
      ...(hint && { hint }),
    })
    expect(seen.requests).toBe(0)
  })

  it.each([5, {}, null])('refuses limits that are not a ServiceLimits at once: %o', async (limits) => {
    const { common } = await service()
    expect(() => new ApiClient({ ...common, limits } as never)).toThrow('limits is not valid')
  })

  it.each([
    [{ timeout: 5 }, 'TranslationClient has no option "timeout"'],
    [{ apiKey: undefined, auth: 5 }, 'the option auth of TranslationClient must be a credential or an engine'],
    [{ appInfo: 'sync' }, 'the option appInfo of TranslationClient must be an object with name'],
    [{ validate: 'none' }, 'the option validate of TranslationClient must be "strict" or "document" or "off"'],
    [{ maxTextsPerRequest: 0 }, 'the option maxTextsPerRequest of TranslationClient must be a whole number of 1 or more'],
  ])('names the class of the translation client: %o', async (options, message) => {
    const { seen, common } = await service()
    await expect(first.translation({ ...common, ...options })).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
    expect(seen.requests).toBe(0)
  })

  it.each([
    [{ headers: { 'user-agent': 'other' } }, 'TimeTrackingClient has no option "headers"'],
    [{ token: undefined, auth: 5 }, 'the option auth of TimeTrackingClient must be a credential or an engine'],
    [{ userAgent: 5 }, 'the option userAgent of TimeTrackingClient must be a string that a header may have'],
    [{ profile: { pagging: {} } }, 'profile has no option "pagging"'],
  ])('names the class of the time-tracking client: %o', async (options, message) => {
    const { seen, common } = await service()
    await expect(first.timeTracking({ ...common, ...options })).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
    expect(seen.requests).toBe(0)
  })

  it('checks the options of a client before its login, too', async () => {
    const { seen, common } = await service()
    const client = new TimeTrackingClient({ ...common, userAgent: 'acme-sync', retry: 3 } as never)
    const login = client.auth.login({ email: 'ada@acme.example', password: 'secret', accountId: 7 })
    await expect(login).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: 'TimeTrackingClient has no option "retry"' })
    expect(seen.requests).toBe(0)
  })

  it('accepts all options, and those that are undefined', async () => {
    const { seen, common } = await service()
    const limits = new ServiceLimits({ rate: 100, burst: 5 })
    const hooks = { request: () => undefined, progress: undefined }
    const all = { ...common, limits, hooks, timeouts: { attempt: 5000, total: false }, retries: 0, maxRetryAfter: 0, queueLimit: 5 }
    await first.api({ ...all, headers: { 'x-a': 'b' }, form: { arrays: 'repeat' }, refresh: true, hints: {}, auth: undefined })
    await first.translation({ ...all, appInfo: { name: 'sync' }, validate: 'off', maxTextsPerRequest: 10, reportingTag: 'a' })
    await first.timeTracking({ ...all, userAgent: 'acme-sync', apiVersion: 'v1', profile: { paging: { style: 'link' } } })
    expect(seen.requests).toBe(3)
  })
})
