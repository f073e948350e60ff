/** Addresses that carry a signature already: they get no second one, and end by themselves. */
import { type AuthFlow, authorized } from '../../auth/flow.ts'
import { type AuthError, CredentialError } from '../../errors.ts'
import { type HttpRequest, hasQueryParameter, queryValues } from '../../http/message.ts'
import { endOfSpan } from '../../http/moment.ts'
import type { Clock } from '../../net/clock.ts'
import { answerOf, type Refusal, refusalOf } from './refusal.ts'

/** True for an address of the web with a signature of version 4 in its query; `s3:` names no host that one could be for. */
export function isPresigned({ url }: Pick<HttpRequest, 'url'>): boolean {
  return url.startsWith('http') && hasQueryParameter(url, 'X-Amz-Signature')
}

/** When a presigned address ends by what it says itself, in epoch milliseconds; undefined when it does not say so. */
export function endOf(url: string): number | undefined {
  return endOfSpan(queryValues(url, 'X-Amz-Date')[0], queryValues(url, 'X-Amz-Expires')[0])
}

/** Sends it as it is. Errors: `AUTH_REJECTED` when the service refuses it, which says nothing about the user's keys. */
export async function* sendPresigned(request: HttpRequest, clock: Clock): AuthFlow {
  const end = endOf(request.url)
  const response = yield authorized(request, end)
  if (response.status !== 403) return
  const refusal = await refusalOf(response, '')
  if (refusal) throw ended(refusal, end, clock.now())
}

function ended(refusal: Refusal, end: number | undefined, now: number): AuthError {
  const { url, status } = refusal
  const why = end !== undefined && end <= now ? `the address was signed beforehand and ended at ${new Date(end).toISOString()}` : ''
  return new CredentialError('AUTH_REJECTED', `${new URL(url).host} refused an address that is signed already: ${answerOf(refusal)}`, {
    url,
    status,
    hint: `${why || 'its signature is not accepted'}: obtain a new one, or the address without signature, from where it came from`,
  })
}
