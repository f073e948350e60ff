/** What may be said into a session. */
export const SOURCE_MEDIA: ReadonlySet<string> = new Set([
  'audio/auto',
  'audio/flac',
  'audio/mpeg',
  ...['', ';codecs=flac', ';codecs=opus'].map((codec) => `audio/ogg${codec}`),
  ...['', ';codecs=opus'].map((codec) => `audio/webm${codec}`),
  ...['', ';codecs=aac', ';codecs=flac', ';codecs=mp3', ';codecs=opus'].map((codec) => `audio/x-matroska${codec}`),
  ...['alaw', 'ulaw'].map((encoding) => `audio/pcm;encoding=${encoding};rate=8000`),
  ...[8000, 16_000, 44_100, 48_000].map((rate) => `audio/pcm;encoding=s16le;rate=${rate}`),
])

/** What a job may be asked to make. */
export const TARGET_TYPES: ReadonlySet<string> = new Set([
  'text/plain',
  'application/x-subrip',
  'audio/opus',
  'audio/flac',
  ...['s16le;rate=16000', 's16le;rate=24000', 'ulaw;rate=8000', 'alaw;rate=8000'].map((encoding) => `audio/pcm;encoding=${encoding}`),
  ...['aac', 'flac', 'opus', 'pcm_s16le;rate=16000', 'pcm_s16le;rate=24000'].map((codecs) => `audio/x-matroska;codecs=${codecs}`),
  ...['aac', 'opus'].map((codecs) => `video/mp2t;codecs=${codecs}`),
  ...['flac', 'opus'].map((codecs) => `audio/ogg;codecs=${codecs}`),
  'audio/webm;codecs=opus',
])

/** What a job may be given. */
export const JOB_SOURCES: ReadonlySet<string> = new Set(['mpeg', 'wav', 'ogg', 'flac', 'mp4', 'webm'].map((type) => `audio/${type}`))
