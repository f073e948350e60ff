const CROWDED = { first: 1000, longest: 20_000 }
const FAILED = { first: 500, longest: 20_000, least: 100 }
const LEAST_HINT = 50

/**
 * Milliseconds before that retry, counted from 1. What the server asks for is the least, and up to a tenth is added; else the time doubles up
 * to 20 s: for a crowded server (429, 529) from 1 s, of which at least half is waited, otherwise from 0.5 s, of which any part.
 */
export function delayBefore(
  retry: number,
  { hint, status }: { readonly hint?: number; readonly status?: number },
  draw: () => number,
): number {
  const random = draw()
  if (hint !== undefined) return Math.max(LEAST_HINT, hint + random * 0.1 * hint)
  if (status === 429 || status === 529) {
    const whole = Math.min(CROWDED.longest, CROWDED.first * 2 ** (retry - 1))
    return whole / 2 + random * (whole / 2)
  }
  return Math.max(FAILED.least, random * Math.min(FAILED.longest, FAILED.first * 2 ** (retry - 1)))
}
