import { describe, expect, it } from 'vitest'
import { QUALITY, VOICE_JOB } from '../../servers/translation/known-good.ts'
import { HELLO, TXT } from './document-place.ts'
import { fakeClient } from './fake-client.ts'
import { gathered } from './voice-outcomes.ts'

const SOUND = new TextEncoder().encode('sound')

describe('members that are added to a body', () => {
  it('go with the document, and with no question about it', async () => {
    const { client, fake, clock } = await fakeClient({ fake: { allowExtra: true } })
    await clock.run(client.translateDocument(HELLO, undefined, TXT, { extraBody: { future: true } }))
    expect(fake.log[0]?.body).toContain('name="future"\r\n\r\n1\r\n')
    expect(fake.log.slice(1).filter(({ body }) => body.includes('future'))).toEqual([])
    expect([10, 11].map((op) => fake.requests(op) > 0)).toEqual([true, true])
  })

  it('go with an evaluation or a job, and with no question about it', async () => {
    const { client, fake, clock } = await fakeClient({ fake: { allowExtra: true } })
    const extraBody = { future: true }
    expect(await clock.run(client.quality.evaluate(QUALITY, { extraBody }))).toMatchObject({ status: 'done' })
    expect(await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { extraBody })))).toHaveLength(2)
    expect(fake.log.filter(({ body }) => body.includes('future')).map(({ op }) => op)).toEqual([47, 45])
  })
})

describe('what is said about the calls of one job', () => {
  it('never takes a key or a header to the hosts of its recordings', async () => {
    const { client, fake, clock } = await fakeClient({ fake: { allowExtra: true }, apiKey: 'not-this-one' })
    const credential = { type: 'apiKey', in: 'header', name: 'Authorization', prefix: 'DeepL-Auth-Key', value: 'test-pro' }
    const options = { credential, headers: { 'X-Own': 'own-value' }, query: { own: 'own-value' } }
    expect(await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, options)))).toHaveLength(2)
    expect(fake.log.every(({ headers }) => headers['x-own'] === 'own-value')).toBe(true)
    const seen = JSON.stringify(fake.assets.log.map(({ rawHeaders, rawUrl }) => [rawHeaders, rawUrl]))
    expect(fake.assets.log).toHaveLength(3)
    for (const value of ['test-pro', 'not-this-one', 'own-value']) expect(seen).not.toContain(value)
  })

  it('takes no key there either when recordings are moved one by one', async () => {
    const { client, fake, clock } = await fakeClient()
    const credential = { type: 'apiKey', in: 'header', name: 'Authorization', prefix: 'DeepL-Auth-Key', value: 'test-pro' }
    const job = await client.voiceJobs.create(VOICE_JOB)
    await client.voiceJobs.upload(job, SOUND, { credential })
    const { results } = await clock.run(client.voiceJobs.wait(job.job_id))
    await (await client.voiceJobs.download(results[0] ?? { status: '' }, { credential })).data.cancel()
    expect(fake.assets.log.map(({ headers }) => headers.authorization?.split(' ')[0])).toEqual(['DeepL-Signature', 'DeepL-Signature'])
  })
})
