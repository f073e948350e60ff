/** A parameter of the field, its value quoted or plain (RFC 6266 §4.1). */
const PARAMETER = /;\s*([a-z*]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/giy
const LONGEST = 4096

/**
 * The name that a server proposes for a file in `Content-Disposition`, without folders: `filename*` (RFC 8187) before `filename`, and of two of
 * a kind the first; undefined when it proposes none that can be used.
 */
export function proposedName(disposition: string | null): string | undefined {
  if (disposition === null || disposition.length > LONGEST) return undefined
  const names = new Map<string, string>()
  const from = disposition.indexOf(';')
  PARAMETER.lastIndex = from < 0 ? disposition.length : from
  for (const [, parameter = '', quoted, token = ''] of disposition.matchAll(PARAMETER)) {
    const key = parameter.toLowerCase()
    if (!names.has(key)) names.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token)
  }
  const name = decoded(names.get('filename*')) ?? names.get('filename')
  const last = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(/[\u0000-\u001f\u007f]/g, '')
  return last === undefined || /^\.{0,2}$/.test(last) ? undefined : last
}

/** The characters of an extended value; undefined for none in UTF-8. */
function decoded(text = ''): string | undefined {
  const [, value] = /^UTF-8'[^']*'([\w!#$&+.^`|~%-]+)$/i.exec(text) ?? []
  try {
    return value === undefined ? undefined : decodeURIComponent(value)
  } catch {
    return undefined
  }
}
