import { ValidationError } from './errors.ts'

/**
 * A path that a caller wrote, as the path of an operation. Errors: `REQUEST_INVALID` for an address, and for a path that would leave the base:
 * one that does not begin with a single slash, or has steps, backslashes, blanks, a fragment or hidden slashes in it.
 */
export function rawPath(path: unknown): string {
  if (typeof path !== 'string') throw new TypeError('a path is a text')
  const [way = ''] = path.split('?')
  const isWrong =
    !/^\/(?!\/)/.test(path) ||
    /[#\\\u0000-\u0020\u007f-\uffff]/.test(path) ||
    /%(?:25)*(?:00|2f|5c)/i.test(way) ||
    way.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))
  if (!isWrong) return path.replaceAll('{', '%7B').replaceAll('}', '%7D')
  const hint = 'write it below the base address, percent-encoded: /projects/1'
  throw new ValidationError('REQUEST_INVALID', 'this is no path below the base address; nothing was sent', { field: 'path', hint })
}
