import { forLine } from '../../text/sanitize.ts'
import { fitted, shortened, widthOf } from '../fitted.ts'
import type { Style } from '../style.ts'
import { bytesText, timeText } from './amounts.ts'
import type { Progress, RunningFile } from './progress.ts'

/** Room on a terminal, in characters. */
export interface Room {
  readonly width: number
  readonly height: number
}

/** Files that have a line of their own. */
const MOST_FILES = 8

/** Characters of the bar, and of a name that is followed by figures. */
const BAR = 20
const NAME = 60

/** How far a download is, as lines that fit: all files together, and some of those that are on their way. */
export function progressLines(progress: Progress, { width, height }: Room, style: Style): readonly string[] {
  const { running } = progress
  const shown = running.slice(0, Math.max(0, Math.min(MOST_FILES, height - 2)))
  const more = running.length - shown.length
  const rest = more > 0 && height > 1 ? [style.dim(fitted([{ text: `  and ${more} more at the same time`, rank: 0 }], width))] : []
  return [totalLine(progress, width, style), ...shown.map((file) => fileLine(file, width, style)), ...rest]
}

/** The same for a log, as one line. */
export function progressLine(progress: Progress): string {
  return totalLine(progress, Number.POSITIVE_INFINITY)
}

/** Without a style there is no bar, which means something only where it grows. */
function totalLine(progress: Progress, width: number, style?: Style): string {
  const { finished, failed, bytes, total, rate, forecast } = progress
  if (forecast.files === 0) return fitted([{ text: 'looking for files', rank: 0 }], width)
  const share = total !== undefined ? bytes / Math.max(1, total) : forecast.isComplete ? finished / Math.max(1, forecast.files) : undefined
  const parts = [
    { text: `${finished} of ${forecast.files}${forecast.isComplete ? '' : '+'} files`, rank: 0 },
    { text: failed > 0 ? `${failed} failed` : '', rank: 1 },
    { text: share === undefined || !style ? '' : bar(share, style), rank: 5 },
    { text: total === undefined ? bytesText(bytes) : `${bytesText(bytes)} of ${bytesText(total)}`, rank: 2 },
    { text: `${bytesText(rate)}/s`, rank: 4 },
    { text: total === undefined || rate === 0 ? '' : `${timeText(((total - bytes) * 1000) / rate)} left`, rank: 3 },
  ]
  return fitted(parts, width)
}

function fileLine({ file, bytes, size, waits, meter }: RunningFile, width: number, style: Style): string {
  const percent = size === undefined ? '' : `${Math.floor((Math.min(bytes, size) * 100) / Math.max(1, size))}%`.padStart(4)
  const parts = [
    { text: percent, rank: 0 },
    { text: size === undefined ? bytesText(bytes) : `of ${bytesText(size)}`, rank: 2 },
    { text: waits ? `${waits.code}, again in ${timeText(waits.delay)}` : `${bytesText(meter.rate)}/s`, rank: 1 },
  ]
  const tail = fitted(parts, Math.floor(width * 0.6))
  const room = Math.max(0, Math.min(NAME, width - widthOf(tail) - 4))
  const name = shortened(forLine(file.name), room, style.unicode ? '\u2026' : '...')
  return `  ${name}${' '.repeat(Math.max(0, room - widthOf(name)))}  ${waits ? style.yellow(tail) : tail}`
}

function bar(share: number, { unicode }: Style): string {
  const [full, empty] = unicode ? ['\u2588', '\u2591'] : ['#', '.']
  const filled = Math.round(Math.max(0, Math.min(1, share)) * BAR)
  return full.repeat(filled) + empty.repeat(BAR - filled)
}
