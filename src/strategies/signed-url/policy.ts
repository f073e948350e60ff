import { isObject, own, ownObject, ownString } from '../../stac/json.ts'

/** What a custom policy of CloudFront says. */
export interface Policy {
  /** Address with wildcards that it is for. */
  readonly resource: string | undefined
  /** Epoch seconds, as written. */
  readonly end: unknown
}

/**
 * The custom policy in the query of a signed address: one statement in base64 with `-`, `_` and `~` for `+`, `=` and `/`
 * (CloudFront, "Creating a signed URL using a custom policy"). Undefined where there is none or it cannot be read.
 */
export function policyOf(query: URLSearchParams): Policy | undefined {
  const text = query.get('Policy')
  if (text === null) return undefined
  const statements = own(parsed(text), 'Statement')
  const [statement] = Array.isArray(statements) ? statements : []
  if (!isObject(statement) || (statements as unknown[]).length !== 1) return undefined
  const before = ownObject(ownObject(statement, 'Condition'), 'DateLessThan')
  return { resource: ownString(statement, 'Resource'), end: own(before, 'AWS:EpochTime') }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')))
  } catch {
    return undefined
  }
}
