import type { HttpRequest } from '../http/message.ts'
import type { Target } from '../stac/target.ts'
import { coversTarget } from './choice.ts'
import type { Chooser } from './chooser.ts'
import type { AuthFlow } from './flow.ts'

/** The legs of a request without material to an address that is none of the web's (`s3:`); undefined when no strategy knows it. */
export async function openFlow(request: HttpRequest, chooser: Chooser, target?: Target): Promise<AuthFlow | undefined> {
  const url = new URL(request.url)
  const type = url.protocol.slice(0, -1)
  const strategy = await chooser.strategyOf(type)
  const own = chooser.own.find((choice) => choice.credential.type === type && coversTarget(choice, url))
  return strategy?.open?.(request, { url: request.url, target }, own?.credential)
}
