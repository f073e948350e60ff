/** The robots exclusion protocol (RFC 9309). */

/** Says whether an address may be asked for. */
export type Robots = (url: string) => boolean

/** What the name of this program is in such files. */
const PRODUCT = 'stac-auth'

interface Line {
  readonly allow: boolean
  readonly path: string
}

/** The rules of a `robots.txt` for this program: those of its own group, else those for everyone. The longest path decides. */
export function readRobots(text: string): Robots {
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

function rulesOf(text: string): readonly Line[] {
  const groups = new Map<string, Line[]>()
  let agents: string[] = []
  let open = false
  for (const raw of text.slice(0, 500 * 1024).split(/\r?\n|\r/)) {
    const [, name = '', value = ''] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*?)\s*(?:#.*)?$/.exec(raw) ?? []
    const field = name.toLowerCase()
    if (field === 'user-agent') {
      if (!open) agents = []
      open = true
      agents.push(value.toLowerCase())
      for (const agent of agents) if (!groups.has(agent)) groups.set(agent, [])
    } else if (field === 'allow' || field === 'disallow') {
      open = false
      // An empty path forbids nothing.
      if (value !== '') for (const agent of agents) groups.get(agent)?.push({ allow: field === 'allow', path: value })
    }
  }
  return groups.get(PRODUCT) ?? groups.get('*') ?? []
}

/** `*` stands for anything, `$` for the end; matched without backtracking, for the file is a stranger's. */
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
