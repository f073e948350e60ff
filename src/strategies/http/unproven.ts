import { platform } from '#platform'
import { ProtocolError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { originOf } from '../../http/network-error.ts'
import type { HttpContext } from './word.ts'

/** `AUTH_SERVER_UNPROVEN` for an answer whose server had to prove itself; `what` goes on after the server's name. */
export function unproven({ url, status }: HttpResponse, { credential }: HttpContext, what: string): ProtocolError {
  const hint = platform.hidesHeaders
    ? 'for web pages the server must list Authentication-Info in Access-Control-Expose-Headers'
    : 'it may be another server than you think: its answer was thrown away'
  return new ProtocolError('AUTH_SERVER_UNPROVEN', `${originOf(url)} ${what}`, { url, status, credential: credential.id, hint })
}
