import type { HttpResponse } from '../../http/message.ts'
import { traceOf } from './shown-headers.ts'

/** A successful answer and how it came about. */
export class ApiResponse<T = unknown> {
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly data: T
  /** Requests that were sent for it. */
  readonly attempts: number
  /** True when a repeated deletion found nothing: the attempt before had deleted it. */
  readonly alreadyGone: boolean

  constructor(status: number, headers: HttpResponse['headers'], data: T, attempts: number, alreadyGone = false) {
    this.status = status
    this.headers = headers
    this.data = data
    this.attempts = attempts
    this.alreadyGone = alreadyGone
  }

  get traceId(): string | undefined {
    return traceOf(this.headers)
  }
}
