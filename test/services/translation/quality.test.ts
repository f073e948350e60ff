import { describe, expect, it } from 'vitest'
import { sliceCodePoints } from '../../../src/services/translation/quality/quality.ts'
import { failureOf } from '../../harness/failure.ts'
import { QUALITY } from '../../servers/translation/known-good.ts'
import { fakeClient } from './fake-client.ts'

describe('an evaluation', () => {
  it('an evaluation is requested, waited for as long as the service wishes, and read', async () => {
    const { client, fake, clock } = await fakeClient()
    const report = await clock.run(client.quality.evaluate(QUALITY))
    expect(report).toMatchObject({ status: 'done', summary: { overall_score: 95 }, response: { status: 200 } })
    const [mistake] = report.segments[0]?.errors ?? []
    expect(mistake?.target_spans.map((span) => sliceCodePoints(QUALITY.segments[0]?.target ?? '', span))).toEqual(['du'])
    expect(fake.requests(47)).toBe(1)
    expect(fake.requests(48)).toBe(1)
    expect(clock.waits).toEqual([5000])
  })

  it('an evaluation is polled again when it takes longer than announced', async () => {
    const { client, fake, clock } = await fakeClient()
    fake.script({ match: { op: 48 }, do: { status: 202, body: { job_id: 'x', status: 'processing' }, headers: { 'Retry-After': '7' } } })
    fake.script({ match: { op: 48 }, do: { status: 202, body: { job_id: 'x', status: 'processing' } } })
    fake.script({
      match: { op: 48 },
      do: { status: 202, body: { job_id: 'x', status: 'something new' }, headers: { 'Retry-After': '86400' } },
    })
    await clock.run(client.quality.evaluate(QUALITY))
    expect(clock.waits).toEqual([5000, 7000, 2250, 60_000])
  })

  it('follows the URL of its job on the own host, and no other', async () => {
    for (const [pollUrl, path] of [
      ['own', /^\/v1\/quality-evaluation\/[\da-f-]+$/],
      ['foreign', /^\/v1\/quality-evaluation\/[\da-f-]+$/],
    ] as const) {
      const { client, fake, clock } = await fakeClient({ fake: { pollUrl } })
      await clock.run(client.quality.evaluate(QUALITY))
      expect(fake.log.at(-1)?.path).toMatch(path)
    }
  })

  it('really takes the way that the service names', async () => {
    const { client, fake } = await fakeClient()
    const { job_id } = await client.quality.submit(QUALITY)
    const states = [
      `/v1/quality-evaluation/${job_id}`,
      `${fake.url}/v1/quality-evaluation/${job_id}`,
      `https://elsewhere.example/${job_id}`,
      '//elsewhere.example/x',
      'http://[',
      '',
    ]
    for (const poll_url of states) expect(await client.quality.poll({ job_id, poll_url })).toMatchObject({ job_id, status: 'processing' })
    expect(await client.quality.poll({ job_id })).toMatchObject({ job_id })
    const other = '11111111-1111-1111-1111-111111111111'
    expect(await failureOf(client.quality.poll({ job_id, poll_url: `/v1/quality-evaluation/${other}` }))).toMatchObject({
      code: 'HTTP_404',
    })
  })

  it('an evaluation may fail, with the words of the service', async () => {
    const { client, fake } = await fakeClient()
    const job = await client.quality.submit(QUALITY)
    const [stored] = fake.state.qualityJobs.values()
    if (stored) stored.failure = 'no model'
    fake.clock.advance(5000)
    const failure = await failureOf(client.quality.wait(job))
    expect(failure).toMatchObject({
      name: 'JobFailedError',
      code: 'JOB_FAILED',
      jobId: job.job_id,
      serviceCode: 'evaluation_failed',
      message: expect.stringContaining('no model'),
    })
  })

  it('an evaluation is no longer waited for after its deadline, or when its caller gives up', async () => {
    const { client, fake, clock } = await fakeClient()
    const late = await failureOf(clock.run(client.quality.evaluate(QUALITY, { totalTimeout: 4000 })))
    expect(late).toMatchObject({ code: 'TIMEOUT_TOTAL', lastState: 'processing', jobId: expect.any(String) })
    const controller = new AbortController()
    const waiting = failureOf(client.quality.evaluate(QUALITY, { signal: controller.signal }))
    await expect.poll(() => clock.pending('wait')).toBe(1)
    controller.abort()
    expect(await waiting).toMatchObject({ code: 'ABORTED' })
    expect([clock.pending('wait'), fake.requests(48)]).toEqual([0, 0])
  })

  it('an evaluation has limits, which hold before anything is sent', async () => {
    const { client, fake } = await fakeClient()
    const segment = { source: 'a', target: '😀'.repeat(10_000) }
    await client.quality.submit({ ...QUALITY, segments: Array(20).fill(segment) })
    await client.quality.submit({ ...QUALITY, segments: Array(500).fill({ source: 'a', target: 'b' }) })
    const wrong = [[], Array(501).fill({ source: 'a', target: 'b' }), [{ source: 'a', target: 'b'.repeat(10_001) }]]
    const refusals = await Promise.all(wrong.map((segments) => failureOf(client.quality.submit({ ...QUALITY, segments }))))
    expect(refusals).toMatchObject([
      { code: 'REQUEST_INVALID', field: 'segments' },
      { limit: 500 },
      { field: 'segments[0].target', limit: 10_000 },
    ])
    expect(fake.requests()).toBe(2)
    expect(await failureOf(client.quality.submit({ ...QUALITY, segments: [] }, { validate: 'document' }))).toMatchObject({
      code: 'HTTP_400',
    })
  })
})

it('one end holds for the whole evaluation, and the earlier one counts', async () => {
  const { client, fake, clock } = await fakeClient()
  const soon = () => new Date(clock.now() + 3000)
  const failures = [
    await failureOf(clock.run(client.quality.evaluate(QUALITY, { totalTimeout: 60_000, deadline: soon() }))),
    await failureOf(clock.run(client.quality.wait(await client.quality.submit(QUALITY), { totalTimeout: 1000, deadline: soon() }))),
  ]
  for (const failure of failures) expect(failure).toMatchObject({ code: 'TIMEOUT_TOTAL', jobId: expect.any(String) })
  const before = fake.requests(48)
  fake.script({ match: { op: 47 }, times: 2, do: { status: 503, headers: { 'Retry-After': '2' } } })
  expect(await failureOf(clock.run(client.quality.evaluate(QUALITY, { totalTimeout: 3000, replay: 'idem' })))).toMatchObject({
    operation: 'quality.submit',
    code: 'HTTP_503',
    attempts: 2,
  })
  expect(fake.requests(48)).toBe(before)
})
