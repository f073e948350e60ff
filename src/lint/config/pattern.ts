/** Which documents an override is about. */

/** True for a document that the pattern fits. */
export type Fits = (document: string) => boolean

/**
 * An address fits by its beginning, whole path segments. Else a glob: `*` and `?` within a name, `**` for any folders,
 * `{a,b}` for either. A pattern without a slash is a file name in any folder, as in `.gitignore`.
 */
export function patternOf(pattern: string): Fits {
  if (/^https?:\/\//i.test(pattern)) return (document) => isBelow(document, pattern)
  const glob = pattern.replace(/^\.\//, '')
  const expression = new RegExp(`^${expressionOf(glob.includes('/') ? glob.replace(/\/$/, '/**') : `**/${glob}`)}$`, 's')
  return (document) => !document.includes('://') && expression.test(document.replace(/^\.\//, ''))
}

function isBelow(document: string, prefix: string): boolean {
  if (!document.startsWith(prefix)) return false
  return prefix.endsWith('/') || document.length === prefix.length || /[/?#]/.test(document[prefix.length] ?? '')
}

function expressionOf(glob: string): string {
  let open = 0
  return (
    glob.replace(/\*\*\/|\*\*|[\s\S]/g, (part) => {
      switch (part) {
        case '**/':
          return '(?:[^/]+/)*'
        case '**':
          return '.*'
        case '*':
          return '[^/]*'
        case '?':
          return '[^/]'
        case '{':
          open++
          return '(?:'
        case '}':
          return open > 0 && open-- ? ')' : '\\}'
        case ',':
          return open > 0 ? '|' : ','
        default:
          return part.replace(/[\\^$.+()|[\]]/g, '\\$&')
      }
    }) + ')'.repeat(open)
  )
}
