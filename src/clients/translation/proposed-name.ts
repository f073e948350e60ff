/** The name that a server proposes for a file (RFC 6266), without folders; undefined when it proposes none that can be used. */
export function proposedName(disposition: string | null): string | undefined {
  if (disposition === null) return undefined
  const [, extended] = /;\s*filename\*\s*=\s*UTF-8'[^']*'([\w!#$&+.^`|~%-]+)/i.exec(disposition) ?? []
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(disposition) ?? []
  const name = decoded(extended) ?? quoted?.replace(/\\(.)/g, '$1') ?? token
  const last = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(/[\u0000-\u001f\u007f]/g, '')
  return last === undefined || /^\.{0,2}$/.test(last) ? undefined : last
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}
