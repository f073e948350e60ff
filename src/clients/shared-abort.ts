/**
 * Many calls with one signal: it gets one listener for all of them, so that no number of calls makes Node warn of a leak.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()
const leaving = new WeakMap<AbortSignal, () => void>()

/** Calls that function when the signal aborts, which has not happened yet. */
export function onAbort(signal: AbortSignal, aborted: () => void): void {
  const known = waiting.get(signal)
  if (known) {
    known.add(aborted)
    return
  }
  const all = new Set([aborted])
  const tell = () => {
    for (const one of [...all]) one()
  }
  waiting.set(signal, all)
  leaving.set(signal, tell)
  signal.addEventListener('abort', tell, { once: true })
}

/** Takes it back; nothing is left on a signal that nobody waits for. */
export function offAbort(signal: AbortSignal, aborted: () => void): void {
  const all = waiting.get(signal)
  if (!all?.delete(aborted) || all.size > 0) return
  const tell = leaving.get(signal)
  if (tell) signal.removeEventListener('abort', tell)
  waiting.delete(signal)
  leaving.delete(signal)
}
