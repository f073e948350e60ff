import { SelectionError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/address.ts'
import type { HttpRequest } from '../http/message.ts'
import { isLoopbackHost } from '../http/public-address.ts'
import { isProtected, type Target } from '../stac/target.ts'
import { coversTarget } from './choice.ts'
import type { Chooser } from './chooser.ts'
import type { AuthFlow } from './flow.ts'

/**
 * The legs of a request without material to an address that is none of the web's (`s3:`); undefined when no strategy knows it. The
 * places that they go to are held to the rules for addresses in documents. Errors: those of the strategy, `URL_*`.
 */
export async function openFlow(request: HttpRequest, chooser: Chooser, target?: Target): Promise<AuthFlow | undefined> {
  const url = new URL(request.url)
  const type = url.protocol.slice(0, -1)
  const strategy = await chooser.strategyOf(type)
  const own = chooser.own.find((choice) => choice.credential.type === type && coversTarget(choice, url))
  const flow = strategy?.open?.(request, { url: request.url, target }, own?.credential)
  return flow && placed(flow, chooser.named, target)
}

/** The document may have named the place, so it is looked at before it is sent to or handed out. */
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
  const grantable = problem.code === 'URL_ADDRESS_FORBIDDEN' && (protocol === 'https:' || isLoopbackHost(hostname))
  throw new SelectionError(problem.code, `the place of this object, ${origin}, ${problem.message}. Nothing was sent`, {
    ...(target && { pointer: `${target.pointer}/href` }),
    ...(grantable && { hint: `if that is meant to be, write "${origin}/" in the sendTo of an entry` }),
  })
}
