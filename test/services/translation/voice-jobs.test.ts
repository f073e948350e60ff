import { describe, expect, it, vi } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { VOICE_JOB } from '../../servers/translation/known-good.ts'
import { fakeClient } from './fake-client.ts'
import { gathered, textOf } from './voice-outcomes.ts'

const SOUND = new TextEncoder().encode('sound')
const pieces = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(SOUND.slice(0, 2))
      controller.enqueue(SOUND.slice(2))
      controller.close()
    },
  })

describe('a voice job', () => {
  it('a voice job is requested, uploaded, waited for and fetched, each target once', async () => {
    const { client, fake, clock } = await fakeClient()
    const statuses: unknown[] = []
    client.on('progress', (progress) => statuses.push(progress.statuses))
    const outcomes = await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND)))
    expect(outcomes).toEqual([
      [0, 'de', '[de] sound', 'text/plain'],
      [1, 'fr', '[fr] sound', 'application/x-subrip'],
    ])
    expect(statuses).toEqual([
      ['uploaded', 'uploaded'],
      ['complete', 'complete'],
    ])
    expect(clock.waits).toEqual([5000])
    expect(fake.assets.log.map(({ op, credential }) => [op, credential?.length])).toEqual([
      ['upload', 40],
      ['download', 40],
      ['download', 40],
    ])
    expect(new Set(fake.assets.log.map(({ credential }) => credential)).size).toBe(3)
  })

  it('a voice job may use URLs that are signed themselves: then nothing else is sent along', async () => {
    const { client, fake, clock } = await fakeClient()
    const outcomes = await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { include: 'signed_url' })))
    expect(outcomes).toHaveLength(2)
    expect(fake.assets.log.map(({ headers, rawUrl }) => [headers.authorization, /\?signature=[\da-f]{40}$/.test(rawUrl)])).toEqual(
      Array(3).fill([undefined, true]),
    )
  })

  it('never shows the key or anything of the client to another host', async () => {
    const { client, fake, clock } = await fakeClient({ headers: { 'X-Own': 'own-value' }, reportingTag: 'my-tag' })
    client.use({ before: (request) => ({ ...request, headers: { ...request.headers, 'x-added': 'added-value' } }) })
    await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { reportingTag: 'other-tag' })))
    expect(fake.log.every(({ headers }) => headers['x-own'] === 'own-value' && headers['x-added'] === 'added-value')).toBe(true)
    const seen = JSON.stringify(fake.assets.log.map(({ rawHeaders, rawUrl, body }) => [rawHeaders, rawUrl, body]))
    for (const value of ['test-pro', 'own-value', 'added-value', '-tag', 'DeepL-Auth-Key']) expect(seen).not.toContain(value)
    const signatures = fake.assets.log.map(({ credential }) => credential ?? '?')
    expect(
      fake.log
        .flatMap(({ rawHeaders, rawUrl, body }) => [...rawHeaders, rawUrl, body])
        .filter((text) => signatures.some((one) => text.includes(one))),
    ).toEqual([])
  })

  it('is not finished as long as the service lists no results', async () => {
    const { client, clock } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    await client.voiceJobs.upload(job, SOUND)
    const get = client.voiceJobs.get.bind(client.voiceJobs)
    vi.spyOn(client.voiceJobs, 'get').mockImplementationOnce(async (...given) => Object.assign(await get(...given), { results: [] }))
    const { results } = await clock.run(client.voiceJobs.wait(job.job_id))
    expect(results).toMatchObject([{ status: 'complete' }, { status: 'complete' }])
  })

  it('fails target by target', async () => {
    const { client, fake, clock } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    await client.voiceJobs.upload(job, SOUND)
    const [target] = fake.state.voiceJobs.get(job.job_id)?.targets ?? []
    if (target) target.failure = 'too quiet'
    const { results } = await clock.run(client.voiceJobs.wait(job.job_id))
    expect(results).toMatchObject([{ status: 'failed', error: { message: 'too quiet' } }, { status: 'complete' }])
    expect(await failureOf(client.voiceJobs.download(results[0] ?? { status: '' }))).toMatchObject({ code: 'RESPONSE_INVALID' })
    expect(await textOf((await client.voiceJobs.download(results[1] ?? { status: '' })).data)).toBe('[fr] sound')
  })

  it('reports the failed target, and fetches the others', async () => {
    const { client, fake, clock } = await fakeClient()
    client.on('progress', () => {
      for (const { targets } of fake.state.voiceJobs.values()) if (targets[1]) targets[1].failure = 'too quiet'
    })
    const outcomes = await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, pieces)))
    expect(outcomes).toEqual([
      [0, 'de', '[de] sound', 'text/plain'],
      [1, 'fr', expect.stringMatching(/could not make fr as application\/x-subrip: too quiet/)],
    ])
  })
})

describe('a recording', () => {
  it.each([
    ['bytes', SOUND, 2],
    ['a function that makes a stream', pieces, 2],
  ])('a recording as %s is sent again after a failure', async (_, recording, requests) => {
    const { client, fake, clock } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    fake.assets.script({ match: { op: 'upload' }, do: { status: 503 } })
    await clock.run(client.voiceJobs.upload(job, recording, { size: 5 }))
    expect(fake.assets.requests('upload')).toBe(requests)
    expect(fake.state.voiceJobs.get(job.job_id)?.uploaded?.content.toString()).toBe('sound')
    expect(fake.assets.log.at(-1)?.headers).toMatchObject({ 'content-length': '5', 'content-type': 'application/octet-stream' })
  })

  it('a recording as a stream is sent once', async () => {
    const { client, fake } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    fake.assets.script({ match: { op: 'upload' }, do: { status: 503 } })
    expect(await failureOf(client.voiceJobs.upload(job, pieces(), { size: 5 }))).toMatchObject({
      code: 'HTTP_503',
      attempts: 1,
      operation: 'voiceJobs.upload',
    })
    expect(fake.assets.requests('upload')).toBe(1)
  })

  it('a recording has arrived when only the answer was lost', async () => {
    const { client, fake, clock } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    fake.assets.script({ match: { op: 'upload' }, do: { performThen: { status: 502 } } })
    await clock.run(client.voiceJobs.upload(job, SOUND))
    expect(fake.assets.requests('upload')).toBe(2)
    expect(await failureOf(client.voiceJobs.upload(job, SOUND))).toMatchObject({ code: 'HTTP_409', attempts: 1 })
  })

  it('a recording is refused with another signature, and its errors show none', async () => {
    const { client } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB, { include: 'signed_url' })
    const { signed_upload_url: _, ...plain } = job
    const failure = await failureOf(client.voiceJobs.upload({ ...plain, signature: `${job.signature}x` }, SOUND))
    expect(failure).toMatchObject({ name: 'PermissionError', attempts: 1 })
    const signed = await failureOf(client.voiceJobs.upload({ ...job, signed_upload_url: `${job.signed_upload_url}x` }, SOUND))
    for (const error of [failure, signed]) expect(JSON.stringify(error) + String(error.stack)).not.toContain(job.signature.slice(0, 8))
  })

  it('a recording is not sent on by a redirect, and neither is its signature', async () => {
    const { client, fake } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    fake.assets.script({ match: { op: 'upload' }, do: { redirect: { status: 307, location: `${fake.url}/v2/usage` } } })
    expect(await failureOf(client.voiceJobs.upload(job, SOUND))).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN' })
    expect(fake.log).toHaveLength(1)
  })

  it.each(['http://storage.example/a', 'https://10.0.0.1/a', 'https://user:pw@storage.example/a', 'file:///etc/passwd', 'nonsense', ''])(
    'a recording is sent to no URL like %j',
    async (upload_url) => {
      const { client } = await fakeClient()
      const failure = await failureOf(client.voiceJobs.upload({ job_id: 'a', upload_url, signature: 'secret-signature' }, SOUND))
      expect(failure).toMatchObject({ code: 'RESPONSE_INVALID' })
      expect(JSON.stringify(failure)).not.toMatch(/secret-signature|pw@/)
    },
  )

  it('a recording is sent over the network encrypted where loopback was not allowed', async () => {
    const { client, fake } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    const { TranslationClient } = await import('../../../src/services/translation/translation-client.ts')
    const other = new TranslationClient({ apiKey: 'test-pro', plan: 'pro' })
    expect(await failureOf(other.voiceJobs.upload(job, SOUND))).toMatchObject({
      code: 'RESPONSE_INVALID',
      message: expect.stringMatching(/not encrypted/),
    })
    expect(fake.assets.requests()).toBe(0)
  })
})

describe('what was made', () => {
  it('what was made is requested once: when it breaks off it is gone, and that is an error', async () => {
    const { client, fake, clock } = await fakeClient()
    const job = await client.voiceJobs.create(VOICE_JOB)
    await client.voiceJobs.upload(job, SOUND)
    const { results } = await clock.run(client.voiceJobs.wait(job.job_id))
    fake.assets.script({ match: { op: 'download' }, do: { resetAfter: 3 } })
    const { data } = await client.voiceJobs.download(results[0] ?? { status: '' })
    expect(await failureOf(textOf(data))).toMatchObject({ code: 'RESPONSE_TRUNCATED' })
    expect(fake.assets.requests('download')).toBe(1)
    fake.assets.script({ match: { op: 'download' }, do: { status: 503 } })
    expect(await failureOf(client.voiceJobs.download(results[1] ?? { status: '' }))).toMatchObject({ code: 'HTTP_503', attempts: 1 })
  })

  it('what was made is no longer waited for at the deadline, or when its caller gives up', async () => {
    const { client, clock } = await fakeClient({ fake: { voiceJobMs: 60_000 } })
    const late = await failureOf(clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { totalTimeout: 12_000 }))))
    expect(late).toMatchObject({ code: 'TIMEOUT_TOTAL', lastState: 'uploaded, uploaded', jobId: expect.any(String) })
    const controller = new AbortController()
    const waiting = failureOf(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { signal: controller.signal })))
    await expect.poll(() => clock.pending('wait')).toBe(1)
    controller.abort()
    expect(await waiting).toMatchObject({ code: 'ABORTED' })
    expect(clock.pending('wait')).toBe(0)
  })
})

describe('limits of voice jobs', () => {
  it('limits of voice jobs hold before anything is sent', async () => {
    const { client, fake } = await fakeClient()
    const sized = (content_length: number) => ({ ...VOICE_JOB, source_file: { ...VOICE_JOB.source_file, content_length } })
    await client.voiceJobs.create(sized(1_073_741_824))
    const refusals = await Promise.all(
      [sized(1_073_741_825), sized(0), sized(1.5), { ...VOICE_JOB, targets: [] }].map((input) => failureOf(client.voiceJobs.create(input))),
    )
    expect(refusals).toMatchObject([
      { limit: 1_073_741_824 },
      { code: 'REQUEST_INVALID' },
      { code: 'REQUEST_INVALID' },
      { field: 'targets' },
    ])
    expect(fake.requests()).toBe(1)
    expect(await failureOf(client.voiceJobs.create(sized(0), { validate: 'off' }))).toMatchObject({ code: 'HTTP_400' })
  })
})
