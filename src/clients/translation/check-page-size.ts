import { ValidationError } from '../errors.ts'

const LARGEST_PAGE = 25

/** Errors: `REQUEST_INVALID` for anything but 1 to 25 items on a page. */
export function checkPageSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= LARGEST_PAGE) return
  const message = `a page has 1 to ${LARGEST_PAGE} items; nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: 'page_size', limit: LARGEST_PAGE })
}
