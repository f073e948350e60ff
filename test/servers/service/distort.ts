import type { Action } from './fault-script.ts'
import { jsonReply, type Reply } from './reply.ts'

/** True when an action answers in place of the operation. */
export function replaces({ status, redirect, noResponse }: Action): boolean {
  return status !== undefined || redirect !== undefined || noResponse === true
}

/** The answer that an action makes by itself; a status without a body gets a message in JSON. */
export function ownReply({ status = 500, body, redirect }: Action): Reply {
  if (redirect) return { status: redirect.status, headers: { Location: redirect.location }, body: '' }
  if (typeof body === 'string' || body instanceof Uint8Array) return { status, body }
  return jsonReply(status, body ?? { message: `Scripted ${status}` })
}

/** An answer in the wrong shape, as far as the action says so. */
export function distorted(reply: Reply, action: Action, now: number): Reply {
  const body = distortedBody(reply.body, action)
  const headers: Record<string, string> = { ...reply.headers, ...(action.htmlBody && { 'Content-Type': 'text/html' }) }
  if (action.wrongContentType !== undefined) headers['Content-Type'] = action.wrongContentType
  if (action.retryAfter !== undefined) headers['Retry-After'] = String(action.retryAfter)
  if (action.dateSkew !== undefined) headers.Date = new Date(now + action.dateSkew).toUTCString()
  if (action.closeConnection) headers.Connection = 'close'
  return { ...reply, headers: { ...headers, ...action.headers }, ...(body !== undefined && { body }) }
}

function distortedBody(body: Reply['body'], action: Action): Reply['body'] {
  if (action.emptyBody) return ''
  if (action.htmlBody) return '<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>'
  if (action.badJson) return `${String(body ?? '{}').slice(0, -1)},`
  if (action.extraField === undefined && action.dropField === undefined) return body
  const value: unknown = JSON.parse(Buffer.from(body ?? '').toString())
  if (typeof value !== 'object' || value === null) return body
  const entries = Object.entries(value).filter(([name]) => name !== action.dropField)
  if (action.extraField !== undefined) entries.push([action.extraField, 'unexpected'])
  return JSON.stringify(Object.fromEntries(entries))
}
