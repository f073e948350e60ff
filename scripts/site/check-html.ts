/** Checks of the built site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Returns what is wrong with the pages below a folder: links and anchors without a target, and what another host would have to send. */
export function problemsOf(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.split('\\').join('/'))
  const pages = new Map(
    names.filter((name) => name.endsWith('.html')).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const),
  )
  const ids = new Map([...pages].map(([name, text]) => [name, idsIn(text)] as const))
  const isThere = (path: string) => existsSync(join(folder, path))
  const broken = [...pages].flatMap(([name, text]) =>
    // Pages that were copied as examples are not part of the site.
    name.startsWith('files/') ? [] : linksIn(text).flatMap((link) => problemOf(name, link, ids, isThere) ?? []),
  )
  const styles = names
    .filter((name) => name.endsWith('.css'))
    .filter((name) => /url\(\s*["']?(?:https?:)?\/\//.test(readFileSync(join(folder, name), 'utf8')))
  return [...broken, ...styles.map((name) => `${name} loads from another host`)]
}

interface Link {
  readonly target: string
  /** True for what a page loads by itself. */
  readonly isLoaded: boolean
}

function linksIn(text: string): readonly Link[] {
  const tags = text.matchAll(/<(a|link|script|img|iframe|source)\b[^>]*?\s(?:href|src)="([^"]*)"/g)
  return [...tags].map(([, tag, target = '']) => ({ target: target.replaceAll('&amp;', '&'), isLoaded: tag !== 'a' }))
}

function idsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id))
}

function problemOf(
  page: string,
  { target, isLoaded }: Link,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
  isThere: (path: string) => boolean,
): string | undefined {
  if (/^(?:[a-z]+:)?\/\//i.test(target)) return isLoaded ? `${page} loads ${target}` : undefined
  if (/^[a-z]+:/i.test(target)) return undefined
  const [path = '', anchor = ''] = target.split('#')
  const wanted = path === '' ? page : decodeURI(path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(page), path))
  const file = wanted === '' || wanted.endsWith('/') ? posix.join(wanted, 'index.html') : wanted
  if (!isThere(file)) return `${page} links to ${target}, which does not exist`
  const known = ids.get(file)
  const isMissing = anchor !== '' && known !== undefined && !known.has(decodeURIComponent(anchor))
  return isMissing ? `${page} links to ${target}, which has no such heading` : undefined
}
