/** True for statuses that say nothing about the next time (RFC 9110 §15, RFC 6585 §4, RFC 8470 §5.2). */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}
