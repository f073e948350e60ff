import { decode, encode } from '@msgpack/msgpack'
import { describe, expect, it, vi } from 'vitest'
import { voicePieces } from '../../../src/services/translation/voice/audio.ts'
import { voiceCodec } from '../../../src/services/translation/voice/messages.ts'
import { VoiceTranscript } from '../../../src/services/translation/voice/session.ts'
import { packMessage, unpackMessage } from '../../servers/translation/msgpack.ts'

const arrayBuffer = (bytes: Uint8Array) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)

describe('messages of a voice session', () => {
  it.each<[string, unknown]>([
    ['no JSON', '{'],
    ['bytes', new ArrayBuffer(2)],
    ['two keys', '{"end_of_stream":{},"error":{}}'],
    ['no key', '{}'],
    ['no object', '[]'],
    ['no payload', '{"end_of_stream":1}'],
    ['no language', '{"target_transcript_update":{"concluded":[]}}'],
    ['a list that is none', '{"source_transcript_update":{"concluded":{}}}'],
    ['a segment without text', '{"source_transcript_update":{"concluded":[null]}}'],
    ['sound that is no base64', '{"target_media_chunk":{"language":"de","data":["*"]}}'],
  ])('messages of a voice session cannot be read from %s', async (_, data) => {
    const codec = await voiceCodec()
    expect(() => codec.read(data)).toThrow(expect.objectContaining({ code: 'RESPONSE_INVALID' }))
  })

  it.each<[string, unknown]>([
    ['text', '{"end_of_stream":{}}'],
    ['cut bytes', arrayBuffer(packMessage({ end_of_stream: {} }).subarray(0, 5))],
    ['bytes behind it', arrayBuffer(Buffer.concat([packMessage({ end_of_stream: {} }), Buffer.from([1])]))],
    ['sound that is text', arrayBuffer(packMessage({ target_media_chunk: { language: 'de', data: ['a'] } }))],
    ['a prototype', arrayBuffer(encode(new Map([['__proto__', {}]]) as never))],
  ])('messages of a voice session cannot be read from packed %s', async (_, data) => {
    const codec = await voiceCodec('msgpack')
    expect(() => codec.read(data)).toThrow(expect.objectContaining({ code: 'RESPONSE_INVALID' }))
  })

  it('messages of a voice session are written as the service reads them', async () => {
    const said = { source_media_chunk: { data: Uint8Array.of(1, 255) } }
    expect((await voiceCodec()).write(said)).toBe('{"source_media_chunk":{"data":"Af8="}}')
    const packed = (await voiceCodec('msgpack')).write(said) as Uint8Array
    expect(unpackMessage(Buffer.from(packed))).toEqual({ source_media_chunk: { data: Buffer.from([1, 255]) } })
  })

  it('messages of a voice session are packed by the package that a page passes', async () => {
    const passed = { encode: vi.fn((value: unknown) => encode(value)), decode: vi.fn((bytes: ArrayBuffer) => decode(bytes)) }
    const codec = await voiceCodec('msgpack', passed)
    const packed = codec.write({ end_of_source_media: {} }) as Uint8Array
    expect(unpackMessage(Buffer.from(packed))).toEqual({ end_of_source_media: {} })
    expect(codec.read(arrayBuffer(packMessage({ end_of_stream: {} })))).toMatchObject({ type: 'end_of_stream' })
    expect([passed.encode.mock.calls.length, passed.decode.mock.calls.length]).toEqual([1, 1])
    await voiceCodec('msgpack', await import('@msgpack/msgpack'))
  })

  it('messages of a voice session keep what is not known of them', async () => {
    const codec = await voiceCodec()
    expect(codec.read('{"end_of_target_media":{"language":"de","more":1}}')).toEqual({
      type: 'end_of_target_media',
      language: 'de',
      more: 1,
    })
    expect(codec.read('{"hasOwnProperty":1}')).toEqual({ type: 'unknown', name: 'hasOwnProperty', payload: 1 })
    expect(codec.read('{"source_transcript_update":{}}')).toEqual({ type: 'source_transcript_update', concluded: [], tentative: [] })
  })
})

describe('pieces of sound', () => {
  const sizes = (type: string, bytes: number, duration?: number) =>
    [...voicePieces(type, new Uint8Array(bytes), duration)].map((piece) => [piece.data.length, piece.duration])

  it.each<[string, number, number | undefined, unknown]>([
    [
      'audio/pcm;encoding=s16le;rate=16000',
      16_001,
      undefined,
      [
        [8000, 250],
        [8000, 250],
        [1, 0.03125],
      ],
    ],
    ['audio/pcm;encoding=s16le;rate=44100', 22_050, undefined, [[22_050, 250]]],
    ['audio/pcm;encoding=f32le;rate=16000', 16_000, undefined, [[16_000, 250]]],
    ['audio/pcm;encoding=s24le;rate=8000', 6000, undefined, [[6000, 250]]],
    [
      'audio/pcm;encoding=s0le;rate=8000',
      4000,
      undefined,
      [
        [2000, 250],
        [2000, 250],
      ],
    ],
    [
      'audio/pcm;encoding=alaw;rate=8000',
      4000,
      undefined,
      [
        [2000, 250],
        [2000, 250],
      ],
    ],
    [
      'audio/webm',
      100_001,
      undefined,
      [
        [100_000, undefined],
        [1, undefined],
      ],
    ],
    ['audio/webm', 1000, 80, [[1000, 80]]],
    [
      'audio/webm',
      1000,
      2000,
      [
        [500, 1000],
        [500, 1000],
      ],
    ],
    ['audio/webm', 0, 100, []],
  ])('pieces of sound of %s, %i bytes', (type, bytes, duration, pieces) => {
    expect(sizes(type, bytes, duration)).toEqual(pieces)
  })
})

it('takes more segments than a call has room for arguments', () => {
  const transcript = new VoiceTranscript()
  transcript.update({ concluded: Array(200_000).fill({ text: 'a' }), tentative: [] })
  expect(transcript.concluded).toHaveLength(200_000)
})

const RAW = 'audio/pcm;encoding=s16le;rate='
const cut = (type: string, bytes: number, duration?: number) => [...voicePieces(type, new Uint8Array(bytes), duration)]

it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('refuses sound that lasts %d ms', (duration) => {
  for (const type of ['audio/ogg', `${RAW}16000`])
    expect(() => cut(type, 3, duration)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID', field: 'duration' }))
})

it('refuses raw sound without samples, and comes to its end with few', () => {
  expect(() => cut(`${RAW}0`, 4)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID', field: 'source_media_content_type' }))
  expect(cut(`${RAW}1`, 4)).toMatchObject([{ duration: 1000 }, { duration: 1000 }])
  expect(cut('audio/ogg', 4, 0)).toMatchObject([{ duration: 0 }])
})
