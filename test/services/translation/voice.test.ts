import { afterEach, describe, expect, it } from 'vitest'
import type { VoiceMessage } from '../../../src/services/translation/voice/messages.ts'
import type { VoiceSession } from '../../../src/services/translation/voice/session.ts'
import { failureOf } from '../../harness/failure.ts'
import type { FakeClock } from '../../harness/fake-clock.ts'
import { VOICE } from '../../servers/translation/known-good.ts'
import { fakeClient } from './fake-client.ts'

/** A second of raw sound: four pieces. */
const SECOND = new Uint8Array(32_000).fill(1)
const SPOKEN = { ...VOICE, target_media_languages: ['de'] }

const sessions: VoiceSession[] = []
afterEach(() => {
  for (const session of sessions.splice(0)) session.close()
})
const opened = async (session: Promise<VoiceSession>) => {
  sessions.push(await session)
  return session
}
async function all(session: AsyncIterable<VoiceMessage>): Promise<readonly VoiceMessage[]> {
  const messages: VoiceMessage[] = []
  for await (const message of session) messages.push(message)
  return messages
}
/** Lets time pass only when the service has heard what was sent before: sound on its way knows no time. */
async function hearing(session: VoiceSession, clock: FakeClock, pieces: number, milliseconds: number): Promise<void> {
  const before = session.source.concluded.length
  for (let piece = 1; piece <= pieces; piece++) {
    await expect.poll(() => session.source.concluded.length).toBe(before + piece)
    clock.advance(milliseconds)
  }
}
const typesOf = (messages: readonly VoiceMessage[]) => [...new Set(messages.map(({ type }) => type))]

describe('a voice session', () => {
  it.each(['json', 'msgpack'] as const)('hears, translates and speaks in %s, at a rate that the service takes', async (message_format) => {
    const { client, fake, clock } = await fakeClient()
    const session = await opened(client.voice.open({ ...SPOKEN, message_format }))
    const [messages] = await Promise.all([all(session), session.send(SECOND), session.end(), hearing(session, clock, 4, 228)])
    expect(typesOf(messages)).toEqual([
      ...['source_transcript_update', 'target_transcript_update', 'target_media_chunk'],
      ...['end_of_source_transcript', 'end_of_target_transcript', 'end_of_target_media', 'end_of_stream'],
    ])
    const media = messages.filter((message) => message.type === 'target_media_chunk')
    expect(media[0]).toMatchObject({ language: 'de', content_type: 'audio/webm;codecs=opus', headers: 1, duration: 100 })
    expect(media.map(({ data }) => data.map((sound) => [sound.length, sound[0]]))).toEqual(Array(4).fill([[8000, 1]]))
    expect(clock.waits).toEqual([228, 228, 228])
    expect(session.source.text).toBe('word 1 word 2 word 3 word 4 word 5')
    expect(session.source.concluded).toHaveLength(4)
    expect(session.target('DE').text).toBe('[de] word 1 [de] word 2 [de] word 3 [de] word 4 ')
    expect(fake.requests()).toBe(1)
    expect(session.sessionId).toBe([...fake.state.voiceSessions.keys()][0])
  })

  it('sends twice as fast as it is spoken at most, and small pieces as they are', async () => {
    const { client, clock } = await fakeClient()
    const session = await opened(client.voice.open(VOICE, { speed: 2 }))
    const small = SECOND.subarray(0, 3200)
    const [messages] = await Promise.all([
      all(session),
      session.send(small),
      session.send(small),
      session.end(),
      hearing(session, clock, 2, 50),
    ])
    expect(messages.filter(({ type }) => type === 'source_transcript_update')).toHaveLength(2)
    expect(clock.waits).toEqual([50])
    expect(await failureOf(client.voice.open(VOICE, { speed: 2.1 }))).toMatchObject({ code: 'REQUEST_INVALID', field: 'speed' })
  })

  it('reports listeners, who may fail, and keeps nothing for a reader that never comes', async () => {
    const { client, clock } = await fakeClient()
    const failures: unknown[] = []
    client.on('hookError', ({ event }) => failures.push(event))
    const session = await opened(client.voice.open(VOICE))
    const heard: string[] = []
    session.on('target_transcript_update', ({ language, concluded }) => heard.push(language + concluded[0]?.text))
    const stop = session.on('source_transcript_update', () => {
      throw new Error('of a listener')
    })
    const over = new Promise<void>((resolve) => session.on('end_of_stream', () => resolve()))
    await session.send(SECOND.subarray(0, 3200))
    await expect.poll(() => heard).toEqual(['de[de] word 1 '])
    stop()
    await clock.run(session.send(SECOND.subarray(0, 3200)))
    await session.end()
    await over
    expect(failures).toEqual(['source_transcript_update'])
    expect(await all(session)).toEqual([])
  })

  it('gives its connection a token that is new, and never the key', async () => {
    const { client, fake } = await fakeClient()
    const urls: string[] = []
    class Watched extends (await import('undici')).WebSocket {
      constructor(url: string) {
        urls.push(url)
        super(url)
      }
    }
    const session = await opened(client.voice.open(VOICE, { WebSocket: Watched }))
    const [stored] = fake.state.voiceSessions.values()
    expect(urls).toEqual([`${fake.assetUrl.replace('http', 'ws')}/v3/voice/realtime/connect?token=${stored?.token}`])
    expect(urls.join()).not.toContain('test-pro')
    expect(JSON.stringify(session) + String(session)).not.toContain(stored?.token)
    expect(fake.log.map(({ rawUrl }) => rawUrl)).toEqual(['/v3/voice/realtime'])
  })
})

describe('the end of a voice session', () => {
  it('the end of a voice session may be a lost connection, after which it continues with a new token', async () => {
    const { client, fake, clock } = await fakeClient()
    fake.state.voiceScript = { dropAfter: 1 }
    const session = await opened(client.voice.open(VOICE))
    const [stored] = fake.state.voiceSessions.values()
    const before = stored?.token
    const reading = failureOf(all(session))
    await session.send(SECOND.subarray(0, 3200))
    expect(await reading).toMatchObject({ name: 'NetworkError', code: 'NETWORK_RESET', hint: expect.stringContaining('reconnect()') })
    expect(await failureOf(session.send(SECOND))).toMatchObject({ code: 'NETWORK_RESET' })
    fake.state.voiceScript = {}
    await Promise.all([session.reconnect(), session.reconnect()])
    expect(fake.requests(44)).toBe(1)
    expect(fake.log.at(-1)?.rawUrl).toBe(`/v3/voice/realtime?token=${before}`)
    expect(stored?.token).not.toBe(before)
    const small = SECOND.subarray(0, 3200)
    const [rest] = await Promise.all([all(session), session.send(small), session.end(), hearing(session, clock, 1, 100)])
    expect(typesOf(rest).at(-1)).toBe('end_of_stream')
    expect(session.source.concluded).toHaveLength(2)
  })

  it('requests a new token once and never again by itself', async () => {
    const { client, fake, clock } = await fakeClient()
    fake.state.voiceScript = { dropAfter: 1 }
    const session = await opened(client.voice.open(VOICE))
    await session.send(SECOND.subarray(0, 3200))
    await failureOf(all(session))
    for (const status of [500, 503, 429]) {
      fake.script({ match: { op: 44 }, do: { status, headers: { 'Retry-After': '1' } } })
      const failure = await clock.run(failureOf(session.reconnect()))
      expect(failure).toMatchObject({ code: `HTTP_${status}`, attempts: 1, operation: 'voice.reconnect' })
      expect(JSON.stringify(failure)).not.toContain([...fake.state.voiceSessions.values()][0]?.token)
    }
    expect(fake.requests(44)).toBe(3)
    await clock.run(session.reconnect())
    await session.end()
    expect(typesOf(await all(session)).at(-1)).toBe('end_of_stream')
  })

  it('the end of a voice session may be an error of the service, which no connection fixes', async () => {
    const { client, fake } = await fakeClient()
    fake.state.voiceScript = { errorAfter: 1, answers: [[{ custom: { a: 1 } }]] }
    const session = await opened(client.voice.open(VOICE))
    await session.send(SECOND.subarray(0, 3200))
    const seen: VoiceMessage[] = []
    const failure = await failureOf(
      (async () => {
        for await (const message of session) seen.push(message)
      })(),
    )
    expect(seen).toEqual([{ type: 'unknown', name: 'custom', payload: { a: 1 } }])
    expect(failure).toMatchObject({
      name: 'VoiceError',
      code: 'VOICE_FAILED',
      serviceCode: '400',
      reasonCode: '4000001',
      requestType: 'source_media_chunk',
    })
    expect(await failureOf(session.reconnect())).toMatchObject({ name: 'ValidationError' })
    expect(fake.requests(44)).toBe(0)
  })

  it('a voice session ends after a timeout without messages', async () => {
    const { client, clock } = await fakeClient()
    const session = await opened(client.voice.open(VOICE))
    clock.advance(30_001)
    expect(await failureOf(all(session))).toMatchObject({ code: 'VOICE_FAILED', message: expect.stringMatching(/too long/) })
  })

  it('a voice session can be ended by its owner', async () => {
    const { client, fake, clock } = await fakeClient()
    const session = await opened(client.voice.open(VOICE))
    const reading = all(session)
    const sending = session.send(SECOND).catch((error: unknown) => error)
    await expect.poll(() => clock.pending('wait')).toBe(1)
    session.close()
    expect(typesOf(await reading)).not.toContain('end_of_stream')
    expect(await sending).toMatchObject({ code: 'REQUEST_INVALID' })
    expect(clock.pending('wait')).toBe(0)
    await expect.poll(() => [...fake.state.voiceSessions.values()][0]?.disconnect).toBeUndefined()
  })

  it('the end of a voice session may be the signal of its owner, at any time', async () => {
    const { client, clock } = await fakeClient()
    const before = new AbortController()
    const opening = failureOf(client.voice.open(VOICE, { signal: before.signal }))
    before.abort()
    expect(await opening).toMatchObject({ code: 'ABORTED' })
    const controller = new AbortController()
    const session = await opened(client.voice.open(VOICE, { signal: controller.signal }))
    const reading = failureOf(all(session))
    controller.abort(new Error('enough'))
    expect(await reading).toMatchObject({ code: 'ABORTED', cause: { message: 'enough' } })
    expect(await failureOf(session.end())).toMatchObject({ code: 'ABORTED' })
    expect(await failureOf(session.reconnect())).toMatchObject({ name: 'ValidationError' })
    expect(clock.pending('wait')).toBe(0)
  })

  it('the end of a voice session is sent once, and nothing after it', async () => {
    const { client } = await fakeClient()
    const session = await opened(client.voice.open(VOICE))
    const results = await Promise.allSettled([session.end(), session.send(SECOND), session.end()])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await failureOf(session.send('sound' as unknown as Uint8Array))).toBeInstanceOf(TypeError)
  })
})
