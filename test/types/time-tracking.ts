/** What `stac-auth/time-tracking` promises to callers. */
import { type Auth, createAuth } from 'stac-auth'
import { CLEAR, ServiceLimits } from 'stac-auth/clients'
import { type LoginToken, TimeTrackingClient } from 'stac-auth/time-tracking'
import { expectTypeOf } from 'vitest'

const baseUrl = 'https://host.example/api/v1'
const auth: Auth = createAuth({ credentials: [] })
new TimeTrackingClient({ baseUrl, auth })
new TimeTrackingClient({ baseUrl, auth: { type: 'http', scheme: 'bearer', token: 'a' } })
new TimeTrackingClient({ baseUrl, token: async () => 'a', authHeader: 'x-api-token', apiVersion: false, limits: new ServiceLimits() })
new TimeTrackingClient({ baseUrl, token: 'a', profile: { paging: { style: 'link' }, replay: { update: 'idem' } } })
// @ts-expect-error: there is no service by default
new TimeTrackingClient({ token: 'a' })
// @ts-expect-error: only the same machine may be asked without encryption
new TimeTrackingClient({ baseUrl, allowInsecure: true })

const client = new TimeTrackingClient({ baseUrl, token: 'a', userAgent: 'acme-sync' })
const project = await client.projects.get(60)
expectTypeOf(project.name).toEqualTypeOf<string | undefined>()
expectTypeOf(project.rate).toEqualTypeOf<string | null | undefined>()
expectTypeOf(project.anything).toEqualTypeOf<unknown>()
expectTypeOf(project.decodeIssues.map(({ field }) => field)).toEqualTypeOf<string[]>()
for await (const { date_created } of client.projects.iterate({ limit: 10 }))
  expectTypeOf(date_created?.epochMs).toEqualTypeOf<number | undefined>()
await client.projects.create({ name: 'a', billable: true, colour: 'red', tags: CLEAR })
// @ts-expect-error: a project has a name
await client.projects.create({ billable: true })
// @ts-expect-error: 1 or 2
await client.projects.update(60, { privacy: 3 })
await client.customers.update('121', { name: 'a' }, { signal: AbortSignal.timeout(1000), replay: 'idem' })

const session = await client.auth.login({ email: 'a', password: 'b', accountId: 7n })
expectTypeOf(session).toEqualTypeOf<LoginToken>()
new TimeTrackingClient({ baseUrl, token: session })
// @ts-expect-error: the service supports GET, POST and DELETE
await client.request('PUT', '/projects/60')
// @ts-expect-error: it is never sent twice
await client.auth.revoke({ retry: { retries: 1 } })

const tasks = client.resource<{ readonly title: string }>('tasks')
expectTypeOf((await tasks.list()).map(({ title }) => title)).toEqualTypeOf<string[]>()
expectTypeOf((await client.request<number>('GET', '/count')).data).toBeNumber()
