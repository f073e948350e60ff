/** One year in seconds: longer promises are not believed. */
const LONGEST = 31_536_000

/**
 * Seconds of life from an `expires_in`: a number or a string of digits, its fraction dropped, at most one year;
 * undefined when it is not positive or not a number.
 */
export function expiresIn(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds >= 1)) return undefined
  return Math.min(Math.trunc(seconds), LONGEST)
}
