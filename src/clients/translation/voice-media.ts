/** What may be said, and what may be made of it. */
import { ValidationError } from '../errors.ts'
import { checkCount } from './check-text-length.ts'
import type { VoiceJobInput } from './voice-jobs.ts'
import type { VoiceSessionInput } from './voice-session-input.ts'

const LARGEST_RECORDING = 1_073_741_824
const MOST_TARGETS = 5

/** Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE` for what the service says that it refuses. Types of media are for it to know. */
export function checkVoiceJob({ source_file, targets }: VoiceJobInput): void {
  const { content_length: size } = source_file
  const field = 'source_file.content_length'
  if (!Number.isInteger(size) || size < 1)
    throw new ValidationError('REQUEST_INVALID', `${field} is the number of bytes, 1 at least; nothing was sent`, { field })
  if (size > LARGEST_RECORDING) {
    const message = `a recording has at most ${LARGEST_RECORDING} bytes; nothing was sent`
    throw new ValidationError('REQUEST_TOO_LARGE', message, { field, limit: LARGEST_RECORDING })
  }
  checkCount(targets, 'targets', { most: Number.POSITIVE_INFINITY })
}

/** Errors: `REQUEST_TOO_LARGE` for too many languages. */
export function checkVoiceSession({ target_languages = [], target_media_languages = [] }: VoiceSessionInput): void {
  checkCount(target_languages, 'target_languages', { least: 0, most: MOST_TARGETS })
  checkCount(target_media_languages, 'target_media_languages', { least: 0, most: 1 })
}
