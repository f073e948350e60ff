/** Amounts as people read them. */

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
