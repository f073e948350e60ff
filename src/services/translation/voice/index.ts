/** `stac-auth/translation/voice`: what sessions and jobs of speech are made of; the methods are `client.voice` and `client.voiceJobs`. */
export type { VoiceJobInput, VoiceJobOutcome } from './jobs.ts'
export type { VoiceMessage } from './messages.ts'
export { VoiceSession } from './session.ts'
export type { VoiceSessionInput } from './voice.ts'
