/** What a voice session is asked for. */
export interface VoiceSessionInput {
  /** `audio/auto`, `audio/flac`, `audio/pcm;encoding=s16le;rate=16000`, …; without blanks. */
  readonly source_media_content_type: string
  readonly source_language?: string
  /** Default `auto`. */
  readonly source_language_mode?: 'auto' | 'fixed'
  /** At most 5. */
  readonly target_languages?: readonly string[]
  /** At most 1, which is among the target languages. */
  readonly target_media_languages?: readonly string[]
  /** Default `audio/webm;codecs=opus`. */
  readonly target_media_content_type?: string
  readonly target_media_voice?: 'male' | 'female'
  /** Default `json`; `msgpack` needs the optional package `@msgpack/msgpack`. */
  readonly message_format?: 'json' | 'msgpack'
  readonly spoken_terms_id?: string
  readonly glossary_id?: string
  readonly formality?: 'default' | 'formal' | 'more' | 'informal' | 'less'
}
