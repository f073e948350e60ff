/** The robots exclusion protocol (RFC 9309). */
import { isAuthError } from '../errors.ts'
import { type Asking, ask } from './ask.ts'
import { originOf, startAt } from './job.ts'

/** The `robots.txt` rules of each origin, read once before its first document (RFC 9309). */
export class RobotsOfOrigins {
  readonly #asking: Asking
  readonly #known = new Map<string, Promise<Robots>>()

  constructor(asking: Asking) {
    this.#asking = asking
  }

  /** True when the URL may be requested; files always may. */
  async allow(url: string): Promise<boolean> {
    const origin = originOf(url)
    if (origin === 'file:') return true
    const known = this.#known.get(origin) ?? this.#read(origin)
    this.#known.set(origin, known)
    return (await known)(url)
  }

  /** Returns the rules. A missing file allows everything; an unreachable one disallows everything (RFC 9309 §2.3.1). */
  async #read(origin: string): Promise<Robots> {
    try {
      const { bytes } = await ask(startAt(`${origin}/robots.txt`), { ...this.#asking, maxBytes: 512 * 1024 })
      return readRobots(new TextDecoder().decode(bytes))
    } catch (error) {
      const allowed = isAuthError(error) && error.status !== undefined && error.status >= 400 && error.status < 500
      return () => allowed
    }
  }
}

/** Returns whether a URL may be requested. */
type Robots = (url: string) => boolean

/** The product token of this program in `robots.txt`. */
const PRODUCT = 'stac-auth'

interface Line {
  readonly allow: boolean
  readonly path: string
}

/** Parses `robots.txt` for this program: the rules of its own group, else those for `*`. The longest matching path decides. */
function readRobots(text: string): Robots {
  const lines = rulesOf(text)
  return (url) => {
    const { pathname, search } = new URL(url)
    const path = pathname + search
    let best: Line | undefined
    for (const line of lines) {
      if (!matches(path, line.path)) continue
      if (!best || line.path.length > best.path.length || (line.path.length === best.path.length && line.allow)) best = line
    }
    return best?.allow ?? true
  }
}

/** Reads only groups for this program and for `*`: a hostile file may have thousands of agents with thousands of rules each. */
function rulesOf(text: string): readonly Line[] {
  const groups = new Map<string, Line[]>()
  const agents = new Set<string>()
  let open = false
  for (const raw of text.slice(0, 500 * 1024).split(/\r?\n|\r/)) {
    const [, name = '', rest = ''] = /^\s*([A-Za-z-]+)\s*:([^#]*)/.exec(raw) ?? []
    const [field, value] = [name.toLowerCase(), rest.trim()]
    if (field === 'user-agent') {
      if (!open) agents.clear()
      open = true
      const agent = value.toLowerCase()
      if (agent !== PRODUCT && agent !== '*') continue
      agents.add(agent)
      if (!groups.has(agent)) groups.set(agent, [])
    } else if (field === 'allow' || field === 'disallow') {
      open = false
      // An empty path disallows nothing.
      if (value !== '') for (const agent of agents) groups.get(agent)?.push({ allow: field === 'allow', path: value })
    }
  }
  return groups.get(PRODUCT) ?? groups.get('*') ?? []
}

/** Compiles a path pattern: `*` matches any text, `$` the end. Matching does not backtrack, because the file is untrusted. */
function matches(path: string, pattern: string): boolean {
  const isWhole = pattern.endsWith('$')
  const [first = '', ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split('*')
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const [index, part] of parts.entries()) {
    const last = isWhole && index === parts.length - 1
    const found = last ? path.length - part.length : path.indexOf(part, at)
    if (found < at || (last && !path.endsWith(part))) return false
    at = found + part.length
  }
  return !isWhole || at === path.length
}
