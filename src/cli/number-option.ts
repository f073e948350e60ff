/** Options whose value is a number. */
import { InvalidArgumentError } from 'commander'

/** Reads a whole number from `least` on. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw new InvalidArgumentError(`It must be a whole number from ${least}.`)
    return Number(text)
  }
}

/** Reads a port. */
export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0 || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port, 1 to 65535.')
  return Number(text)
}

/** Reads a number above zero. */
export function positive(text: string): number {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('It must be a positive number.')
  return Number(text)
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Reads a number of bytes: `500k`, `2.5M`, `1G`, in units of 1000. */
export function byteCount(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]?)b?$/i.exec(text) ?? []
  const bytes = Math.round(Number(number) * (UNITS[unit.toLowerCase()] ?? 1))
  if (bytes < 1) throw new InvalidArgumentError('It must be a number of bytes, such as 500k or 10M.')
  return bytes
}
