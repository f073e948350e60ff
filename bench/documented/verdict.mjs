/** Whether results are as they should be: compared with their targets, or with their figures in `bench/speed.json`. */

/** What a figure may be off on another machine, as a share of it. */
const TOLERANCE = 0.3

/** How much worse than its figure a steady result may be in the smallest size, beside other work, as a share of it. */
const SMALLEST_TOLERANCE = 1 / 3

/** False for a result that is not as it should be; undefined when the mode says nothing about it. */
export function verdict(mode, result, figure) {
  const { ratio, target, better, exact } = result
  if (!isCompared(mode, result)) return mode === '--smallest' || target === undefined ? undefined : within(ratio, target, better)
  if (figure === undefined) return false
  if (exact) return ratio === figure
  if (mode === '--documented') return Math.abs(ratio / figure - 1) <= TOLERANCE
  return within(ratio, better === 'lower' ? figure * (1 + SMALLEST_TOLERANCE) : figure / (1 + SMALLEST_TOLERANCE), better)
}

/** True when the mode compares such a result with its figure. */
export function isCompared(mode, { target, exact, steady }) {
  if (mode === '--write') return false
  return Boolean(exact) || (mode === '--smallest' ? Boolean(steady) : mode === '--documented' && target !== undefined)
}

/** Returns the better one of two results. */
export function betterOf(one, other) {
  return within(one.ratio, other.ratio, one.better) ? one : other
}

function within(ratio, bound, better) {
  return better === 'lower' ? ratio <= bound : ratio >= bound
}
