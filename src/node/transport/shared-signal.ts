import { setMaxListeners } from 'node:events'

/**
 * Allows any number of listeners on one signal: Node warns of a leak from the eleventh on, and raises the limit for its own `fetch`.
 * Signals that are not Node's, such as those of test environments, stay unchanged.
 */
export function shareSignal(signal: AbortSignal | undefined): void {
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
}
