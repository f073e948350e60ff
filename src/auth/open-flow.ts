/** Requests without credentials to URLs that are not http(s), such as `s3:`: a strategy says which request that is. */

import { SelectionError } from '../errors.ts'
import type { HttpRequest } from '../http/message.ts'
import { addressOf, isAddressProblem, isLoopbackHost } from '../http/url.ts'
import { isProtected, type Target } from '../stac/target.ts'
import type { CredentialSelector } from './credential-selection.ts'
import { coversTarget } from './scheme-matching.ts'
import type { AuthFlow } from './strategy.ts'

/**
 * Returns the steps of a request without credentials to a URL that is not http(s) (`s3:`); undefined when no strategy supports it. Their
 * URLs follow the rules for URLs in documents. Errors: those of the strategy, `URL_*`.
 */
export async function openFlow(request: HttpRequest, selector: CredentialSelector, target?: Target): Promise<AuthFlow | undefined> {
  const url = new URL(request.url)
  const type = url.protocol.slice(0, -1)
  const strategy = await selector.strategyOf(type)
  const own = selector.own.find((match) => match.credential.type === type && coversTarget(match, url))
  const flow = strategy?.open?.(request, { url: request.url, target }, own?.credential)
  return flow && placed(flow, selector.named, target)
}

/** Checks the host before a step is sent or returned, because the document may have named it. */
async function* placed(flow: AuthFlow, named: ReadonlySet<string>, target: Target | undefined): AuthFlow {
  try {
    let step = await flow.next(undefined as never)
    while (!step.done) {
      checkPlace(step.value.request.url, named, target)
      step = await flow.next(yield step.value)
    }
  } finally {
    await flow.return()
  }
}

function checkPlace(address: string, named: ReadonlySet<string>, target: Target | undefined): void {
  const problem = addressOf(address, { secure: target !== undefined && isProtected(target), named })
  if (!isAddressProblem(problem)) return
  const { origin, protocol, hostname } = new URL(address)
  const isNameable = problem.code === 'URL_ADDRESS_FORBIDDEN' && (protocol === 'https:' || isLoopbackHost(hostname))
  throw new SelectionError(problem.code, `the host of this object is refused: ${origin} ${problem.message}. Nothing was sent`, {
    ...(target && { pointer: `${target.pointer}/href` }),
    ...(isNameable && { hint: `if you trust that host, add "${origin}/" to "sendTo" of a credential` }),
  })
}
