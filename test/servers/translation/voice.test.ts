import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { field, send, VOICE } from './known-good.ts'
import { packMessage, unpackMessage } from './msgpack.ts'
import { startTranslationFake, type TranslationFake } from './translation-fake.ts'
import { acceptOf, clientFrame, openVoice, type VoiceClient } from './voice-client.ts'

let fake: TranslationFake
const clients: VoiceClient[] = []
beforeEach(async () => {
  fake = await startTranslationFake()
})
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  await fake.close()
})

const data = Buffer.alloc(3200, 1).toString('base64')
const chunk = { source_media_chunk: { data } }
const end = { end_of_source_media: {} }

const addressOf = (answer: { readonly json: unknown }) => {
  const { streaming_url, token } = answer.json as { readonly streaming_url: string; readonly token: string }
  return { token, address: `${streaming_url}?token=${token}` }
}
const create = async (more: object = {}) => addressOf(await send(fake, 43, { json: { ...VOICE, ...more } }))
const open = async (address: string, fields = {}) => {
  const client = await openVoice(address, fields)
  clients.push(client)
  return client
}
const start = async (more: object = {}) => open((await create(more)).address)

describe('a voice session', () => {
  it('hears, translates, speaks and ends in order', async () => {
    const client = await start({ target_media_languages: ['de'] })
    for (let n = 0; n < 2; n++) {
      client.say(chunk)
      await expect.poll(() => client.messages().length).toBe(3 * (n + 1))
      fake.clock.advance(100)
    }
    client.say(end)
    expect(await client.ended).toBe(1000)
    const { source_transcript_update: source } = client.messages()[0] as { readonly source_transcript_update: unknown }
    expect(source).toMatchObject({
      concluded: [{ language: 'en', text: 'word 1 ', start_time: 0, end_time: 100 }],
      tentative: [{ text: 'word 2' }],
    })
    expect(client.messages().map((message) => Object.keys(message as object).join())).toEqual([
      ...['source_transcript_update', 'target_transcript_update', 'target_media_chunk'],
      ...['source_transcript_update', 'target_transcript_update', 'target_media_chunk'],
      ...['end_of_source_transcript', 'end_of_target_transcript', 'end_of_target_media', 'end_of_stream'],
    ])
    expect(client.messages()[2]).toEqual({
      target_media_chunk: { language: 'de', data: [data], duration: 100, content_type: 'audio/webm;codecs=opus', headers: 1 },
    })
    fake.assertClean()
  })

  it('speaks MessagePack in binary frames', async () => {
    const client = await start({ message_format: 'msgpack', target_media_languages: ['de'] })
    client.send(packMessage({ source_media_chunk: { data: Buffer.alloc(3200, 1) } }), 2)
    client.send(packMessage(end), 2)
    expect(await client.ended).toBe(1000)
    const messages = client.received.filter(({ opcode }) => opcode === 2).map(({ payload }) => unpackMessage(payload))
    expect(messages[2]).toMatchObject({ target_media_chunk: { data: [Buffer.alloc(3200, 1)], duration: 100 } })
    expect(messages.at(-1)).toEqual({ end_of_stream: {} })
    fake.assertClean()
  })

  it('shakes hands as the standard says', async () => {
    const key = 'dGhlIHNhbXBsZSBub25jZQ=='
    const { answer } = await open((await create()).address, { 'Sec-WebSocket-Key': key })
    expect(acceptOf(key)).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    expect(answer).toMatch(/^HTTP\/1\.1 101 [\s\S]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/)
  })

  it.each<[string, Readonly<Record<string, string | undefined>>, number]>([
    ['a key on the second origin', { Authorization: 'DeepL-Auth-Key test-pro' }, 400],
    ['another version', { 'Sec-WebSocket-Version': '8' }, 400],
    ['no key', { 'Sec-WebSocket-Key': undefined }, 400],
    ['a short key', { 'Sec-WebSocket-Key': 'YQ==' }, 400],
    ['an upgrade to something else', { Upgrade: 'h2c' }, 400],
  ])('refuses and records %s', async (_, fields, status) => {
    const { answer } = await open((await create()).address, fields)
    expect([answer.split(' ')[1], fake.violations.length]).toEqual([String(status), 1])
  })

  it('a voice session opens with a token once, and with the latest only', async () => {
    const { address, token } = await create()
    const first = await open(address)
    expect((await open(address)).answer).toMatch(/^HTTP\/1.1 403/)
    expect((await open(address.replace(token, 'x'))).answer).toMatch(/^HTTP\/1.1 403/)
    const again = addressOf(await send(fake, 44, { query: `token=${token}` }))
    expect([await first.ended, again.token === token]).toEqual([0, false])
    const second = await open(again.address)
    expect(second.answer).toMatch(/^HTTP\/1.1 101/)
    expect((await send(fake, 44, { query: `token=${token}` })).status).toBe(400)
    expect(await second.ended).toBe(0)
    expect((await send(fake, 44, { query: `token=${again.token}` })).status).toBe(400)
  })

  it.each<[string, (client: VoiceClient) => void, number, RegExp]>([
    ['a frame without a mask', ({ send: write }) => write('{}', 1, 0x80, false), 1002, /without a mask/],
    ['a reserved bit', ({ send: write }) => write('{}', 1, 0xc0), 1002, /reserved bit/],
    ['an unknown opcode', ({ send: write }) => write('{}', 5), 1002, /opcode 5/],
    ['a ping in pieces', ({ send: write }) => write('', 9, 0), 1002, /control frame/],
    ['a continuation of nothing', ({ send: write }) => write('{}', 0), 1002, /continuation/],
    ['text that is not UTF-8', ({ send: write }) => write(Buffer.from([0xff])), 1007, /UTF-8/],
    ['a close code that nobody may send', ({ send: write }) => write(Buffer.from([3, 0xed]), 8), 1002, /close code 1005/],
    [
      'a length that is too long',
      ({ socket }) => socket.write(Buffer.from([0x81, 0xfe, 0, 2, 0, 0, 0, 0, 0x7b, 0x7d])),
      1002,
      /shortest form/,
    ],
    ['a frame that is too large', ({ socket }) => socket.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0])), 1009, /too large/],
    ['a binary frame for JSON', ({ send: write }) => write(JSON.stringify(chunk), 2), 1008, /does not fit/],
    ['what is no JSON', ({ send: write }) => write('{'), 1008, /cannot be read/],
    ['two keys in a message', ({ say }) => say({ ...chunk, ...end }), 1008, /exactly one key/],
    ['an unknown message', ({ say }) => say({ hello: {} }), 1008, /unknown message/],
    ['an unknown field', ({ say }) => say({ source_media_chunk: { data, more: 1 } }), 1008, /unknown message or field/],
    ['a chunk that is no base64', ({ say }) => say({ source_media_chunk: { data: '*' } }), 1008, /base64/],
    ['an empty chunk', ({ say }) => say({ source_media_chunk: { data: '' } }), 1008, /base64/],
    [
      'a chunk of two seconds',
      ({ say }) => say({ source_media_chunk: { data: Buffer.alloc(64_000).toString('base64') } }),
      1008,
      /too large/,
    ],
    ['chunks in a hurry', ({ say }) => [say(chunk), say(chunk)], 1008, /too early/],
    [
      'words after the end',
      ({ socket }) => socket.write(Buffer.concat([end, chunk].map((said) => clientFrame(Buffer.from(JSON.stringify(said)), 1)))),
      1000,
      /after the end/,
    ],
  ])('a voice session is ended by %s', async (_, act, code, violation) => {
    const client = await start()
    act(client)
    expect(await client.ended).toBe(code)
    expect(fake.violations).toEqual([expect.stringMatching(violation)])
  })

  it('puts pieces together, answers pings and closes', async () => {
    const client = await start()
    const text = Buffer.from(JSON.stringify(chunk))
    client.send(text.subarray(0, 10), 1, 0)
    client.send('hello', 9)
    client.send(text.subarray(10, 20), 0, 0)
    client.send(text.subarray(20), 0)
    await expect.poll(() => client.messages().length).toBe(2)
    expect(client.received[0]).toEqual({ opcode: 10, payload: Buffer.from('hello') })
    client.send(Buffer.from([3, 0xe8]), 8)
    expect(await client.ended).toBe(1000)
    fake.assertClean()
  })

  it('ends by silence, by an error and by a cut, as told', async () => {
    const silent = await start()
    fake.clock.advance(30_001)
    expect(await silent.ended).toBe(1008)
    expect(silent.messages()).toMatchObject([{ error: { error_message: 'Nothing was said for too long' } }])
    fake.state.voiceScript = { errorAfter: 1, answers: [[{ custom: {} }]] }
    const failing = await start()
    failing.say(chunk)
    expect(await failing.ended).toBe(1008)
    expect(failing.messages()).toMatchObject([{ custom: {} }, { error: { request_type: 'source_media_chunk' } }])
    fake.state.voiceScript = { dropAfter: 1 }
    const dropped = await start()
    dropped.say(chunk)
    expect(await dropped.ended).toBe(0)
    fake.assertClean()
  })

  it('a voice session may be told not to mind the pace', async () => {
    await fake.close()
    fake = await startTranslationFake({ voicePacing: false })
    const client = await start()
    for (const message of [chunk, chunk, end]) client.say(message)
    expect(await client.ended).toBe(1000)
    fake.assertClean()
  })

  it('continues after a cut, with a new token', async () => {
    const { address, token } = await create()
    const first = await open(address)
    first.socket.destroy()
    await first.ended
    const again = addressOf(await send(fake, 44, { query: `token=${token}` }))
    const second = await open(again.address)
    second.say(end)
    expect(await second.ended).toBe(1000)
    expect((await send(fake, 44, { query: `token=${field(await send(fake, 43, { json: VOICE }), 'token')}` })).status).toBe(200)
    fake.assertClean()
  })
})

describe('MessagePack', () => {
  it.each<[unknown, string]>([
    [null, 'c0'],
    [true, 'c3'],
    [5, '05'],
    [300, 'ce0000012c'],
    [-1.5, 'cbbff8000000000000'],
    ['ä', 'a2c3a4'],
    [Buffer.from([1, 2]), 'c4020102'],
    [[1, [2]], '92019102'],
    [{ a: { b: 1 } }, '81a16181a16201'],
  ])('writes %j as %s and reads it again', (value, bytes) => {
    expect(packMessage(value).toString('hex')).toBe(bytes)
    expect(unpackMessage(Buffer.from(bytes, 'hex'))).toEqual(value)
  })

  it.each(['', '81a161', '0505', 'c1', '8101 02', '82a16101a16102', 'a1ff'])('refuses %s', (bytes) => {
    expect(() => unpackMessage(Buffer.from(bytes.replace(' ', ''), 'hex'))).toThrow()
  })
})
