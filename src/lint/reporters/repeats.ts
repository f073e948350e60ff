/** How people read a finding that was found several times. */
import type { Place, Problem } from '../problem.ts'

/** Other places that are shown. */
const SHOWN = 3

/** The message, and in how many places it was found with the first ones that are not the finding's own. */
export function messageOf({ message, count = 1, places = [], pointer }: Problem): string {
  const others = places.filter((place) => place.document !== undefined || place.pointer !== pointer)
  const shown = others.slice(0, SHOWN).map(nameOf).join(', ')
  if (count === 1) return shown === '' ? message : `${message} (in ${shown})`
  if (others.length === places.length) return `${message} (in ${count} places, first ${shown})`
  return `${message} (and ${count - 1} more ${count === 2 ? 'place' : 'places'}, first ${shown})`
}

/** A place in the document of the finding goes by its line. */
function nameOf({ document = '', pointer, line, column }: Place): string {
  if (line !== undefined) return `${document}${document && ':'}${line}:${column ?? 1}`
  return document === '' ? pointer : `${document}#${pointer}`
}
