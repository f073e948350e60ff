/** What a server says in an error response, without the secrets of its request. */

import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { messageInText, type ServerMessage } from '../../http/server-message.ts'
import { Redactor } from '../../text/redactor.ts'
import { forLine } from '../../text/sanitize.ts'

/** Longest message and longest address that are shown, in characters. */
const SHOWN = 300

/** Maximum bytes to read of an error body. */
const READ = 65_536

/**
 * Returns what an error response says, without the secrets of its request, escaped and at most 300 characters each. Reads the body;
 * throws nothing, also for an interrupted or compressed body that cannot be read.
 */
export async function messageOfResponse(response: Pick<HttpResponse, 'chunks'>, request: HttpRequest): Promise<ServerMessage> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  try {
    for await (const chunk of response.chunks?.() ?? []) {
      text += decoder.decode(chunk, { stream: true })
      length += chunk.length
      if (length >= READ) break
    }
  } catch {
    // What has arrived may be enough.
  }
  return shownMessage(messageInText(text), request)
}

/** Returns a message without the secrets of the request, which servers may repeat, escaped and shortened. */
export function shownMessage(said: ServerMessage, request?: HttpRequest): ServerMessage {
  const scrub = request ? redactorFor(request).scrub : (text: string) => text
  const shown = (text: string | undefined) => {
    const line = text && forLine(scrub(text.slice(0, READ)))
    return line && (line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line)
  }
  const [message, address] = [shown(said.message), shown(said.address)]
  const code = said.code !== undefined && /^[\w.-]{1,64}$/.test(said.code) ? shown(said.code) : undefined
  // A shortened address leads elsewhere.
  const isWhole = address !== undefined && !/…$|\[secret\]/.test(address)
  return { ...(message && { message }), ...(code && { code }), ...(isWhole && { address }) }
}

/** Request headers without secrets. */
const HARMLESS = /^(?:accept(?:-.*)?|content-(?:type|length)|range|if-.*|user-agent|host)$/

/** Parameters of `Authorization` without secrets. */
const HARMLESS_PARAMETER =
  /^(?:realm|algorithm|qop|nc|uri|charset|userhash|signedheaders|oauth_(?:version|signature_method|timestamp)|version)$/i

function redactorFor({ headers, url }: HttpRequest): Redactor {
  const redactor = new Redactor()
  for (const [name, value] of Object.entries(headers)) {
    if (HARMLESS.test(name)) continue
    const parameters = [...value.matchAll(/([\w!#$%&'*+.^`|~-]+)=(?:"([^"]*)"|([^\s,;"]+))/g)]
    const isList = parameters.length > 0 && !/^\S+ [\w.~+/-]+=*$/.test(value)
    if (!isList) redactor.addHeader(value)
    for (const [, parameter = '', quoted, token = ''] of isList ? parameters : [])
      if (!HARMLESS_PARAMETER.test(parameter)) redactor.add(quoted ?? token)
  }
  for (const value of new URL(url).searchParams.values()) redactor.add(value)
  return redactor
}
