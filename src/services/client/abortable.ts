/**
 * The items of a generator. By itself it hears of `return` only when its request is over; here its signal ends the request.
 *
 * @param caller ends it as well
 */
export function abortable<T>(
  make: (signal: AbortSignal) => AsyncGenerator<T, void>,
  caller: AbortSignal | undefined,
): AsyncIterator<T, void> {
  const controller = new AbortController()
  const abort = () => controller.abort(caller?.reason)
  if (caller?.aborted) abort()
  else caller?.addEventListener('abort', abort, { once: true })
  const release = () => caller?.removeEventListener('abort', abort)
  const generator = make(controller.signal)
  const ended = (step: IteratorResult<T, void>) => {
    if (step.done) release()
    return step
  }
  return {
    next: () =>
      generator.next().then(ended, (error: unknown) => {
        release()
        throw error
      }),
    return: () => {
      release()
      controller.abort()
      return generator.return().then(ended, () => ({ done: true, value: undefined }))
    },
  }
}
