import type { Clock } from '../../net/clock.ts'
import type { TranslationCallOptions } from './translation-options.ts'

/** Options for several steps that share one end, by `totalTimeout` or by `deadline`: the one that comes first. */
export function oneEnd<Options extends TranslationCallOptions>(
  { totalTimeout, deadline, ...options }: Options,
  clock: Clock,
): Omit<Options, 'totalTimeout' | 'deadline'> & { readonly deadline?: Date } {
  if (typeof totalTimeout !== 'number') return { ...options, ...(deadline && { deadline }) }
  const end = clock.now() + totalTimeout
  return { ...options, deadline: new Date(deadline ? Math.min(end, deadline.getTime()) : end) }
}
