/** One operation of a service: where it is reached and what it is called. */
export interface Route {
  readonly op: number | string
  readonly method: string
  /** With parameters in braces: `/v2/document/{document_id}`. */
  readonly path: string
}

/** Where a request leads. */
export type Found =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'verb'; readonly allow: readonly string[] }
  | { readonly kind: 'id' }
  | { readonly kind: 'path' }

type Verbs = Map<string, Route>

const NO_PARAMS = {}

/** Finds the route of a path as it stands in the request line; parameters are decoded once. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Found {
  const paths = new Map<string, Verbs>()
  for (const route of routes) paths.set(route.path, (paths.get(route.path) ?? new Map()).set(route.method, route))
  const templates = [...paths].filter(([path]) => path.includes('{')).map(([path, verbs]) => ({ parts: path.split('/'), verbs }))
  return (method, path) => {
    const fixed = paths.get(path)
    if (fixed && !path.includes('{')) return choose(fixed, method, NO_PARAMS)
    const given = path.split('/')
    for (const { parts, verbs } of templates) {
      if (!parts.every((part, index) => isParameter(part) || part === given[index]) || parts.length !== given.length) continue
      const params = parametersOf(parts, given)
      return params ? choose(verbs, method, params) : { kind: 'id' }
    }
    return { kind: 'path' }
  }
}

function choose(verbs: Verbs, method: string, params: Readonly<Record<string, string>>): Found {
  const route = verbs.get(method)
  return route ? { kind: 'route', route, params } : { kind: 'verb', allow: [...verbs.keys()] }
}

/** Nothing for an identifier that no service gives out: empty, a dot segment, with a slash or a NUL inside. */
function parametersOf(parts: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    if (!isParameter(part)) continue
    const value = decoded(given[index] ?? '')
    if (value === undefined || value === '' || value === '.' || value.includes('..') || /[/\0]/.test(value)) return undefined
    params[part.slice(1, -1)] = value
  }
  return params
}

function isParameter(part: string): boolean {
  return part.startsWith('{')
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
