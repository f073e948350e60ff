import type { Credential } from '../../auth/credential.ts'
import { ChallengeError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { originOf } from '../../http/network-error.ts'

/** `AUTH_CHALLENGE_UNSUPPORTED` for a challenge of that answer; `why` names a parameter and never its value. */
export function unanswerable({ url, status }: HttpResponse, { id }: Credential, why: string): ChallengeError {
  const message = `the challenge of ${originOf(url)} cannot be answered with entry "${id}": ${why}`
  return new ChallengeError('AUTH_CHALLENGE_UNSUPPORTED', message, { url, status, credential: id })
}
