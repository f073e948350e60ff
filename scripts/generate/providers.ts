/** Fills the table of docs/providers.md, from the registry. `stac-auth providers ID` shows the rest. */
import { providers } from 'stac-auth/providers'
import type { Way } from '../../dist/providers/provider.js'
import { type Files, fill, table } from './files.ts'

const sorted = [...providers].sort((one, other) => (one.title.toLowerCase() < other.title.toLowerCase() ? -1 : 1))

function rows(): string {
  const cells = sorted.map(({ id, title, homepage, ways }) => [
    `[${title}](${homepage})`,
    `\`${id}\``,
    [...new Set(ways.map(needs))].join('; or '),
  ])
  return table(['provider', 'ID', 'what you need'], cells)
}

/** What only the user has, as text. */
function needs({ id, holes }: Way): string {
  const labels = Object.values(holes).flatMap(({ label, optional }) =>
    optional ? [] : [label.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())],
  )
  if (labels.length > 0) return labels.join(', ')
  return id === 'login' ? 'a login in the browser' : id === 'netrc' ? 'an entry in `~/.netrc`' : 'nothing'
}

export const files: Files = { 'docs/providers.md': fill({ providers: rows() }) }
