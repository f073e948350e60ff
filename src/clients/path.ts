/** Paths of a service: written by the programmer, with places for what comes from elsewhere. */

import { percentEncoded } from '../http/message.ts'
import { ValidationError } from './errors.ts'

/** What may stand in the place of a path parameter. */
export type PathValue = string | number | bigint

/** Fills the places of a path. */
export type PathTemplate = (values: Readonly<Record<string, PathValue>>) => string

const PLACE = /\{(\w+)\}/g

/**
 * Reads a path such as `/projects/{id}` once. What is filled in stays one segment, whatever it is.
 *
 * Errors: `REQUEST_INVALID` for a parameter that is missing, or that {@link segment} refuses.
 */
export function pathTemplate(template: string): PathTemplate {
  const literals = template.split(PLACE).filter((_part, index) => index % 2 === 0)
  const names = [...template.matchAll(PLACE)].map(([, name = '']) => name)
  const [only = ''] = literals
  if (names.length === 0) return () => only
  return (values) => names.reduce((path, name, index) => path + segment(own(values, name), name) + literals[index + 1], only)
}

/**
 * A value as one percent-encoded path segment (RFC 3986 §3.3).
 *
 * Errors: `REQUEST_INVALID` for what some server would read as another path: nothing, `.`, `..`, NUL, a backslash, or an escape that
 * hides a slash, a backslash or NUL.
 */
export function segment(value: unknown, name: string): string {
  const text = typeof value === 'number' ? digits(value, name) : typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string') throw refused(name, 'is missing')
  if (text === '') throw refused(name, 'is empty')
  if (text === '.' || text === '..') throw refused(name, 'is a step in a path')
  if (/[\0\\]|%(?:25)*(?:00|2f|5c)/i.test(text)) throw refused(name, 'has a hidden slash, a backslash or NUL in it')
  if (!text.isWellFormed()) throw refused(name, 'has half of a surrogate pair in it')
  return percentEncoded(text)
}

function digits(value: number, name: string): string {
  if (Number.isSafeInteger(value) && value >= 0) return String(value)
  throw refused(name, 'is no safe integer from 0 on')
}

function own(values: Readonly<Record<string, PathValue>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function refused(name: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `the path parameter "${name}" ${why}; nothing was sent`, { field: name })
}
