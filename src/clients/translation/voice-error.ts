import { AuthError, type AuthErrorFields } from '../../errors.ts'

/** The service ended a voice session, which cannot go on. `VOICE_FAILED`. */
export class VoiceError extends AuthError {
  override readonly name = 'VoiceError'
  /** The service's own codes: what failed, and why. */
  readonly serviceCode?: string
  readonly reasonCode?: string
  /** The message of ours that it speaks of. */
  readonly requestType?: string

  constructor(
    message: string,
    { serviceCode, reasonCode, requestType, ...fields }: AuthErrorFields & Pick<VoiceError, 'serviceCode' | 'reasonCode' | 'requestType'>,
  ) {
    super('VOICE_FAILED', message, fields)
    if (serviceCode !== undefined) this.serviceCode = serviceCode
    if (reasonCode !== undefined) this.reasonCode = reasonCode
    if (requestType !== undefined) this.requestType = requestType
  }
}
