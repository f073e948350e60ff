import { describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { VOICE } from '../../servers/translation/known-good.ts'
import { openVoice } from '../../servers/translation/voice-client.ts'
import { fakeClient } from './fake-client.ts'

describe('a voice session', () => {
  it('a voice session cannot be opened with a token that was used, and its error shows none', async () => {
    const { client, fake } = await fakeClient()
    fake.script({
      match: { op: 43 },
      do: {
        status: 200,
        body: { streaming_url: `${fake.assetUrl.replace('http', 'ws')}/v3/voice/realtime/connect`, token: 'used-token-1234' },
      },
    })
    const failure = await failureOf(client.voice.open(VOICE))
    expect(failure).toMatchObject({ name: 'NetworkError', code: 'NETWORK_FAILED', message: expect.stringContaining('could not be opened') })
    expect(JSON.stringify(failure) + String(failure.stack)).not.toContain('used-token')
  })

  it.each(['https://voice.example/a', 'ws://voice.example/a', 'wss://10.0.0.1/a', 'wss://user:pw@voice.example/', 'nonsense'])(
    'a voice session is not opened at %s',
    async (streaming_url) => {
      const { client, fake } = await fakeClient()
      fake.script({ match: { op: 43 }, do: { status: 200, body: { streaming_url, token: 'token-1234' } } })
      expect(await failureOf(client.voice.open(VOICE))).toMatchObject({ code: 'RESPONSE_INVALID' })
    },
  )

  it('a voice session has limits, which hold before anything is sent', async () => {
    const { client, fake } = await fakeClient()
    const five = ['de', 'fr', 'es', 'it', 'ja']
    const session = await client.voice.open({ ...VOICE, target_languages: five, target_media_languages: ['de'] })
    session.close()
    const wrong = [{ target_languages: [...five, 'ko'] }, { target_languages: five, target_media_languages: ['de', 'fr'] }]
    const refusals = await Promise.all(wrong.map((more) => failureOf(client.voice.open({ ...VOICE, ...more }))))
    expect(refusals).toMatchObject([
      { field: 'target_languages', limit: 5 },
      { field: 'target_media_languages', limit: 1 },
    ])
    expect(fake.requests()).toBe(1)
  })
})

describe('a session without a connection of ours', () => {
  it('returns its token to whoever connects', async () => {
    const { client } = await fakeClient()
    const { streaming_url, token } = await client.voice.createSession(VOICE)
    const first = await openVoice(`${streaming_url}?token=${token}`)
    first.socket.destroy()
    const next = await client.voice.reconnect({ token })
    const second = await openVoice(`${next.streaming_url}?token=${next.token}`)
    expect(second.answer).toMatch(/^HTTP\/1.1 101/)
    second.socket.destroy()
  })
})

it('an error shows no secret when a connection cannot be opened', async () => {
  const { client, clock } = await fakeClient()
  class Refusing {
    constructor(url: string) {
      throw new SyntaxError(`the address ${url} is refused`)
    }
  }
  const failure = await failureOf(client.voice.open(VOICE, { WebSocket: Refusing as never }))
  expect(failure).toMatchObject({ code: 'NETWORK_FAILED', message: expect.stringContaining('could not be opened') })
  expect(failure.cause).toBeUndefined()
  expect(JSON.stringify(failure) + String(failure.stack)).not.toContain('token=')
  expect(() => clock.advance(20_000)).not.toThrow()
})
