import type { HttpRequest } from '../http/message.ts'
import { foreign } from './foreign.ts'
import type { Interceptor } from './interceptor.ts'

/** The request as interceptors, one after the other, want it sent. Errors: theirs of the family; `CONFIG_INVALID` for any other. */
export async function intercepted(
  interceptors: readonly Interceptor[],
  plain: HttpRequest,
  about: { readonly operation: string; readonly attempt: number },
): Promise<HttpRequest> {
  const { url, method } = plain
  let request = plain
  try {
    for (const interceptor of interceptors) request = { ...((await interceptor.before?.(request, about)) ?? request), url, method }
  } catch (error) {
    throw foreign(error, about.operation)
  }
  return request
}

/** Tells interceptors of an answer, one after the other. Errors: as above. */
export async function toldOf(
  answer: Parameters<NonNullable<Interceptor['after']>>[0],
  interceptors: readonly Interceptor[],
  operation: string,
): Promise<void> {
  try {
    for (const interceptor of interceptors) await interceptor.after?.(answer)
  } catch (error) {
    throw foreign(error, operation)
  }
}
