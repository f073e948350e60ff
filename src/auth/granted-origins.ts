import type { Credential } from './credential.ts'
import { type Grant, namedOrigin } from './grant.ts'
import type { Strategy } from './strategy.ts'

/**
 * The origins that the user wrote down, in patterns or as endpoints: for these, and only these, a loopback or private
 * address is what the user meant.
 */
export function grantedOrigins(
  credentials: readonly Credential[],
  strategies: readonly Strategy[],
  typed: readonly string[],
): ReadonlySet<string> {
  const origins = new Set(typed.map((url) => new URL(url).origin))
  for (const credential of credentials) {
    for (const value of Object.values(credential)) {
      if (Array.isArray(value)) for (const grant of value) if (isGrant(grant)) add(origins, namedOrigin(grant))
    }
    const strategy = strategies.find(({ type }) => type === credential.type)
    for (const endpoint of strategy?.endpoints?.(credential) ?? []) {
      origins.add(typeof endpoint === 'string' ? new URL(endpoint).origin : endpoint.origin)
    }
  }
  return origins
}

function isGrant(value: unknown): value is Grant {
  return typeof value === 'object' && value !== null && 'pattern' in value && 'wildcard' in value
}

function add(origins: Set<string>, origin: string | undefined): void {
  if (origin !== undefined) origins.add(origin)
}
