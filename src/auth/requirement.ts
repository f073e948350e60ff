/** The requirement behind a reference of a target: its scheme, and the narrowest URL pattern that can be allowed. */
import { httpsForm } from '../http/url.ts'
import { type AuthScheme, modernScheme } from '../stac/scheme.ts'
import { findScheme, schemeMaps, type Target } from '../stac/target.ts'
import type { Strategy } from './strategy.ts'
import { covers, parseUrlPattern } from './url-pattern.ts'

export interface Requirement {
  /** The name in the catalog. */
  readonly name: string
  readonly pointer: string
  /** The scheme as the document has it: the same object for all targets that refer to it, and another one in another document. */
  readonly written: AuthScheme
  readonly scheme: AuthScheme
  readonly strategy: Strategy
  readonly target: Target
  /** Absolute URL of the target. */
  readonly url: string
}

/** Returns the scheme with that name as seen from the target; undefined when it is missing or unsupported. */
export function requirementOf(target: Target, name: string, strategies: readonly Strategy[]): Requirement | undefined {
  const { object, pointer } = target
  const found = findScheme(schemeMaps(target.scope, { object, pointer, describesItems: false }), name)
  if (!found) return undefined
  const written = found.value as AuthScheme
  const scheme = modernScheme(written as Readonly<Record<string, unknown>>) as AuthScheme
  const strategy = strategies.find(({ type }) => type === written.type) ?? strategies.find(({ type }) => type === scheme.type)
  return (
    strategy && {
      name,
      pointer: found.pointer,
      written,
      scheme,
      strategy,
      target,
      url: new URL(httpsForm(target.href) ?? target.href, target.scope.url).href,
    }
  )
}

/** True if no credential for that type of scheme can authorize a request for that absolute URL: an object store wants a signature. */
export function isUnusable(type: string, url: string): boolean {
  return /^s3:/i.test(url) && /^(?:http|apiKey|oauth2|openIdConnect)$/.test(type)
}

/** Returns the origin as a pattern; for shared hosts the folder, and for hosts that contain a wildcard nothing. */
export function patternFor(url: URL): string | undefined {
  return patternsFor(url).find((text) => isPattern(text))
}

/** Returns the folder of a URL as a pattern; undefined where no pattern with a path matches the URL, which servers may read as another. */
export function folderFor(url: URL): string | undefined {
  return patternsFor(url).find((text, index) => index > 0 && isPattern(text, url))
}

function patternsFor({ protocol, host, origin, pathname }: URL): string[] {
  const whole = protocol === 's3:' ? `s3://${host}/` : `${origin}/`
  return [whole, `${whole}${pathname.split('/')[1] ?? ''}/`]
}

function isPattern(text: string, covering?: URL): boolean {
  try {
    const pattern = parseUrlPattern(text)
    return !pattern.wildcard && (covering === undefined || covers(pattern, covering))
  } catch {
    return false
  }
}
