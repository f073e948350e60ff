import { setMaxListeners } from 'node:events'

/**
 * Lets any number of requests wait for one signal: from the eleventh listener on, Node would warn of a leak. Node does the same for
 * its own `fetch`. Signals of others, such as those of test environments, are left as they are.
 */
export function shareSignal(signal: AbortSignal | undefined): void {
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
}
