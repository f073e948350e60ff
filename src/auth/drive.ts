/** Runs flows: as far as the authorized request, or to their end. */
import { CredentialError } from '../errors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { AuthFlow, Leg } from './flow.ts'

/** More legs than any scheme needs. */
const MAX_LEGS = 8

type SendLeg = (leg: Leg) => Promise<HttpResponse>

/** The first authorized leg, unsent; undefined when the server asked for nothing. */
export async function authorizedLeg(flow: AuthFlow, send: SendLeg): Promise<Leg | undefined> {
  try {
    let step = await flow.next(undefined as never)
    for (let legs = 1; !step.done && step.value.kind !== 'authorized'; legs++) {
      const response = await sent(step.value, legs, send)
      step = await flow.next(response)
      await response.discard()
    }
    return step.done ? undefined : step.value
  } finally {
    await flow.return()
  }
}

/** The last answer of a flow and the request that got it; undefined when the flow sent nothing. */
export async function runFlow(flow: AuthFlow, send: SendLeg): Promise<{ leg: Leg; response: HttpResponse } | undefined> {
  let last: { leg: Leg; response: HttpResponse } | undefined
  try {
    let step = await flow.next(undefined as never)
    for (let legs = 1; !step.done; legs++) {
      await last?.response.discard()
      const leg = step.value
      last = { leg, response: await sent(leg, legs, send) }
      step = await flow.next(last.response)
    }
    return last
  } catch (error) {
    await last?.response.discard()
    throw error
  } finally {
    await flow.return()
  }
}

function sent(leg: Leg, legs: number, send: SendLeg): Promise<HttpResponse> {
  if (legs <= MAX_LEGS) return send(leg)
  throw new CredentialError('AUTH_REJECTED', `${originOf(leg.request)} kept asking: more than ${MAX_LEGS} rounds`, { url: leg.request.url })
}

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin
}
