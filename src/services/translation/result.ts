/** What methods give: the record of the service as it came, with its answer beside it. */
import { ProtocolError } from '../../errors.ts'
import { ApiResponse } from '../client/api-response.ts'
import { described } from '../client/errors.ts'
import type { Member, Members, TranslationOperation } from './operations.ts'

/** A record or list of the service. `response` is not enumerable: it is not printed, copied or sent back. */
export type Result<T> = T & { readonly response: ApiResponse<undefined> }

/** A success without a body. `response.alreadyGone` tells a repeated deletion that found nothing. */
export type Nothing = Readonly<Record<never, never>>

/**
 * The data of an answer with the answer beside it. Errors: `RESPONSE_INVALID` when it is not the record or list that the operation
 * promises, or has not the members that it must have.
 *
 * @param operation what was asked
 * @param url origin and path, for errors
 */
export function resultOf<T>(operation: TranslationOperation, answer: ApiResponse, url: string): Result<T> {
  const data = operation.answer === 'nothing' ? {} : answer.data
  const promised = operation.answer === 'list' ? 'list' : 'record'
  if (!isA(promised, data)) throw unexpected(operation.name, `a ${promised}`, data, url)
  for (const [name, kind] of Object.entries(operation.members ?? {})) memberOf(data, name, kind, operation.name, url)
  return withResponse(data as T & object, answer)
}

/** A record with an answer beside it. */
export function withResponse<T extends object>(data: T, { status, headers, attempts, alreadyGone }: ApiResponse): Result<T> {
  const response = new ApiResponse(status, headers, undefined, attempts, alreadyGone)
  // A service may have a member of that name.
  return Object.defineProperty(data, 'response', { value: response, configurable: true, enumerable: false }) as Result<T>
}

/** A member of a record that must be there. Errors: `RESPONSE_INVALID`. */
export function memberOf(record: object, name: string, kind: Member, operation: string, url = ''): unknown {
  const value: unknown = Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined
  if (isA(kind, value)) return value
  throw unexpected(operation, `"${name}", a ${kind},`, value, url)
}

/** A result with one answer, which has a text, for each text that was sent. Errors: `RESPONSE_INVALID`. */
export function withCount<T extends Result<object>>(result: T, answers: readonly unknown[], sent: number, operation: string): T {
  if (answers.length === sent) return withElements(result, answers, { text: 'text' }, operation)
  const message = `${operation}: ${sent} texts were sent, the response has ${answers.length}`
  throw described(new ProtocolError('RESPONSE_INVALID', message), result.response.attempts, operation)
}

/** A result with a list of records that have these members. Errors: `RESPONSE_INVALID`. */
export function withElements<T extends Result<object>>(result: T, list: readonly unknown[], members: Members, operation: string): T {
  try {
    for (const element of list) {
      if (!isA('record', element)) throw unexpected(operation, 'a list of records', element, '')
      for (const [name, kind] of Object.entries(members)) memberOf(element, name, kind, operation)
    }
    return result
  } catch (error) {
    throw described(error, result.response.attempts, operation)
  }
}

function isA(kind: Member, value: unknown): value is object {
  if (kind === 'text') return typeof value === 'string'
  if (kind === 'number') return typeof value === 'number'
  return typeof value === 'object' && value !== null && Array.isArray(value) === (kind === 'list')
}

function unexpected(operation: string, promised: string, found: unknown, url: string): ProtocolError {
  const kind = found === undefined ? 'nothing' : found === null ? 'null' : Array.isArray(found) ? 'a list' : `a ${typeof found}`
  return new ProtocolError('RESPONSE_INVALID', `${operation}: expected ${promised} in the response, received ${kind}`, {
    ...(url && { url }),
  })
}
