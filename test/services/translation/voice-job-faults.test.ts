import { describe, expect, it } from 'vitest'
import type { VoiceJobOutcome } from '../../../src/services/translation/voice/jobs.ts'
import { failureOf } from '../../harness/failure.ts'
import { VOICE_JOB } from '../../servers/translation/known-good.ts'
import { fakeClient } from './fake-client.ts'
import { gathered, textOf } from './voice-outcomes.ts'

const SOUND = new TextEncoder().encode('sound')

describe('a service that does not keep to its word', () => {
  const state = (results: unknown) => ({ status: 200, body: { job_id: 'a', results } })

  it.each([
    ['more results than targets', Array(3).fill({ status: 'processing' })],
    ['fewer', [{ status: 'complete' }]],
    ['none', []],
    ['results that are no records', [null, 'complete']],
    ['results without a state', [{}, { status: 7 }]],
  ])('a service that reports %s is not polled any more', async (_, results) => {
    const { client, fake, clock } = await fakeClient()
    fake.script({ match: { op: 46 }, times: 50, do: state(results) })
    const failure = await failureOf(clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND))))
    expect(failure).toMatchObject({ code: 'RESPONSE_INVALID', jobId: expect.any(String) })
    expect(fake.requests(46)).toBe(1)
    fake.reset()
  })

  it('a service that returns null for an error is understood', async () => {
    const { client, fake, clock } = await fakeClient()
    fake.script({
      match: { op: 46 },
      do: state([
        { status: 'failed', error: null },
        { status: 'failed', error: { message: 7, code: 8 } },
      ]),
    })
    expect(await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND)))).toEqual([
      [0, 'de', expect.stringMatching(/no details given$/)],
      [1, 'fr', expect.stringMatching(/: 7$/)],
    ])
  })
})

describe('a target that cannot be fetched', () => {
  it('fails alone, with the name of its job', async () => {
    const { client, fake, clock } = await fakeClient()
    fake.assets.script({ match: { op: 'download' }, do: { status: 503 } })
    const outcomes: VoiceJobOutcome[] = []
    const read = async () => {
      for await (const outcome of client.voiceJobs.translate(VOICE_JOB, SOUND)) {
        outcomes.push(outcome)
        if (outcome.result) expect(await textOf(outcome.result.data)).toBe('[fr] sound')
      }
    }
    await clock.run(read())
    expect(outcomes).toMatchObject([{ index: 0, error: { code: 'HTTP_503', jobId: expect.any(String) } }, { index: 1 }])
  })

  it('an error of a target or of an upload names the job', async () => {
    const { client, fake, clock } = await fakeClient()
    fake.assets.script({ match: { op: 'upload' }, do: { status: 403 } })
    expect(await failureOf(clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND))))).toMatchObject({
      code: 'HTTP_403',
      jobId: [...fake.state.voiceJobs.keys()][0],
    })
  })

  it('ends all when its caller gave up', async () => {
    const { client, fake, clock } = await fakeClient()
    const controller = new AbortController()
    client.on('progress', () => {
      if (fake.requests(46) === 2) controller.abort()
    })
    expect(await failureOf(clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { signal: controller.signal }))))).toMatchObject(
      {
        code: 'ABORTED',
        jobId: expect.any(String),
      },
    )
  })
})
