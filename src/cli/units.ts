/** Sizes, times and tables for people. */
import { plural } from '../lint/reporters/report.ts'

/** Returns the time and how far away it is: `2026-11-20T10:00:00Z (in 58 minutes)`. */
export function expiryText(expiresAt: string, now: number): string {
  const left = Date.parse(expiresAt) - now
  if (Number.isNaN(left)) return expiresAt
  return `${expiresAt} (${left < 0 ? `${durationText(-left)} ago` : `in ${durationText(left)}`})`
}

const LENGTHS: readonly (readonly [unit: string, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** Returns a duration in its largest unit of which it has two: `90 seconds`, `58 minutes`, `2 hours`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  const [unit, length] = LENGTHS.find(([, unitLength]) => seconds >= 2 * unitLength) ?? ['second', 1]
  return plural(Math.round(seconds / length), unit)
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/** `512 bytes`, `1.5 MB`: three figures at most, in units of 1000. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${value.toFixed(digits)} ${bytes === 1 ? 'byte' : UNITS[unit]}`
}

/** `0:07`, `12:30`, `3:04:05`. */
export function timeText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const tail = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`
}

/** Aligns the cells of rows, with two spaces between them. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widthOf(column)))
      .join('  ')
      .trimEnd(),
  )
}
