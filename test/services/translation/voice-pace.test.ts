import { expect, it } from 'vitest'
import { voicePieces } from '../../../src/services/translation/voice-sender.ts'

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
