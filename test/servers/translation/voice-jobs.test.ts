import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { rawRequest } from '../service/raw-request.ts'
import { field, send, VOICE_JOB } from './known-good.ts'
import { startTranslationFake, type TranslationFake } from './translation-fake.ts'

let fake: TranslationFake
beforeEach(async () => {
  fake = await startTranslationFake()
})
afterEach(() => fake.close())

interface Created {
  readonly job_id: string
  readonly upload_url: string
  readonly signature: string
  readonly signed_upload_url: string
}

const create = async () => (await send(fake, 45, { json: VOICE_JOB, query: 'include=signed_url' })).json as Created
const results = async (job: Created, query = '') =>
  ((await send(fake, 46, { params: { job_id: job.job_id }, query })).json as { results?: readonly Readonly<Record<string, string>>[] })
    .results
const signed = (signature: string | undefined) => ({ 'User-Agent': 'test', Authorization: `DeepL-Signature ${signature}` })
const octets = { 'Content-Type': 'application/octet-stream', 'Content-Length': '5' }
const put = (url: string, headers: Readonly<Record<string, string>>, body = 'sound') =>
  rawRequest('PUT', url, { headers: { ...octets, ...headers }, body })

describe('a voice job', () => {
  it('a voice job is uploaded, worked on, fetched target by target, and gone', async () => {
    const job = await create()
    expect(new URL(job.upload_url).origin).toBe(fake.assetUrl)
    expect(fake.assetUrl).not.toBe(fake.url)
    expect(await results(job)).toEqual([{ status: 'pending' }, { status: 'pending' }])
    expect((await put(job.upload_url, signed(job.signature))).status).toBe(204)
    expect((await put(job.upload_url, signed(job.signature))).status).toBe(409)
    expect(await results(job)).toMatchObject([{ status: 'uploaded' }, { status: 'uploaded' }])
    fake.clock.advance(2000)
    expect(await results(job)).toMatchObject([{ status: 'processing' }, { status: 'processing' }])
    fake.clock.advance(3000)
    const [first, second] = (await results(job, 'include=signed_url')) ?? []
    const answer = await rawRequest('GET', String(first?.download_url), { headers: signed(first?.signature) })
    expect(answer).toMatchObject({ status: 200, text: '[de] sound', headers: { 'content-type': 'text/plain' } })
    await expect.poll(() => results(job)).toMatchObject([{ status: 'downloaded' }, { status: 'complete' }])
    expect((await rawRequest('GET', String(first?.download_url), { headers: signed(first?.signature) })).status).toBe(404)
    expect((await rawRequest('GET', String(second?.signed_download_url), { headers: { 'User-Agent': 'test' } })).text).toBe('[fr] sound')
    await expect.poll(async () => (await send(fake, 46, { params: { job_id: job.job_id } })).status).toBe(404)
    fake.assertClean()
  })

  it('takes no key and no other signature', async () => {
    const job = await create()
    expect((await put(job.upload_url, signed('x'))).status).toBe(403)
    expect((await put(job.upload_url, { 'User-Agent': 'test' })).status).toBe(403)
    expect((await put(`${job.upload_url}?signature=x`, { 'User-Agent': 'test' })).status).toBe(403)
    expect((await put(job.signed_upload_url, signed(job.signature))).status).toBe(400)
    expect(fake.violations).toEqual([])
    expect((await put(job.upload_url, { 'User-Agent': 'test', Authorization: 'DeepL-Auth-Key test-pro' })).status).toBe(400)
    expect((await put(job.upload_url, { ...signed(job.signature), 'X-Other': 'test-pro' })).status).toBe(400)
    expect((await put(job.upload_url, { ...signed(job.signature), 'Content-Length': '8' }, 'test-pro')).status).toBe(400)
    expect(fake.violations).toHaveLength(3)
    expect(() => fake.assertClean()).toThrow(/a key on the second origin/)
    expect((await put(job.signed_upload_url, { 'User-Agent': 'test' })).status).toBe(204)
  })

  it('takes only the recording that it was made for, and only in time', async () => {
    const [job, late] = [await create(), await create()]
    expect((await put(job.upload_url, { ...signed(job.signature), 'Content-Length': '4' }, 'soun')).status).toBe(400)
    expect((await put(job.upload_url, { ...signed(job.signature), 'Content-Type': 'text/plain' })).status).toBe(400)
    expect((await put(job.upload_url, { ...signed(job.signature), 'Content-Type': 'audio/wav' })).status).toBe(204)
    fake.clock.advance(300_001)
    expect((await put(late.upload_url, signed(late.signature))).status).toBe(404)
  })

  it('fails target by target, and keeps what was fetched in part', async () => {
    const job = await create()
    await put(job.upload_url, signed(job.signature))
    fake.clock.advance(5000)
    const [, target] = fake.state.voiceJobs.get(job.job_id)?.targets ?? []
    if (target) target.failure = 'No such voice'
    const [first, second] = (await results(job)) ?? []
    expect(second).toEqual({ status: 'failed', error: { message: 'No such voice', code: 'processing_failed' } })
    fake.assets.script({ match: { op: 'download' }, do: { truncate: 3 } })
    const get = () => rawRequest('GET', String(first?.download_url), { headers: signed(first?.signature) })
    expect(await failureOf(get())).toMatchObject({ code: 'ECONNRESET' })
    await expect.poll(() => fake.assets.log.at(-1)?.aborted).toBe(true)
    expect((await get()).text).toBe('[de] sound')
  })

  it('a voice job is one of ten', async () => {
    for (let n = 0; n < 10; n++) await create()
    expect((await send(fake, 45, { json: VOICE_JOB })).status).toBe(429)
    const large = { ...VOICE_JOB, source_file: { ...VOICE_JOB.source_file, content_length: 200_000_000 } }
    fake.reset()
    expect(field(await send(fake, 45, { json: large }), 'job_id')).toMatch(/^[\da-f-]{36}$/)
    await create()
    expect((await send(fake, 45, { json: large })).status).toBe(429)
  })
})
