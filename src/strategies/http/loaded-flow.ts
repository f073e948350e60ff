import type { AuthFlow } from '../../auth/flow.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { HttpContext, HttpWord } from './word.ts'

type Flow = (request: HttpRequest, context: HttpContext) => AuthFlow

/** A flow that is loaded when the first request needs it: most programs know one or two of the words. */
export function loadedFlow(load: () => Promise<Flow>): HttpWord['authorize'] {
  return async function* (request, context) {
    const flow = await load()
    return yield* flow(request, context)
  }
}
