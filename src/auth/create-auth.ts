import { defaultStrategies } from '../strategies/index.ts'
import type { Auth } from './auth.ts'
import { createEngine, type EngineOptions } from './create-engine.ts'
import type { LazyStrategy, Strategy } from './strategy.ts'

/** Options of `createAuth`. */
export interface AuthOptions extends Omit<EngineOptions, 'strategies'> {
  /** Replaces the default list; extend `defaultStrategies` for custom types. */
  readonly strategies?: readonly (Strategy | LazyStrategy)[]
}

/**
 * Creates the engine that authorizes requests for targets with the user's credentials.
 *
 * Errors: `ConfigurationError` `CONFIG_INVALID` with the pointer of the field: immediately for a credential without a supported type or
 * without `sendTo`; all other fields are checked, and strategies loaded, by `ready()` or the first call. On Node, Bun and Deno, `ready()` and
 * the first request also refuse unknown options.
 *
 * @example
 * const auth = createAuth({ credentials: [bearer(token, 'https://data.example/')] })
 * const response = await auth.fetch(assetOf(item, 'data'))
 */
export function createAuth(options: AuthOptions): Auth {
  return createEngine({ ...options, strategies: options?.strategies ?? defaultStrategies })
}
