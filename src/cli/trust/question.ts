/** What a person reads before a credential is created or widened. Every word of the catalog in it is inert. */
import type { CredentialObject } from '../../auth/credential.ts'
import { forJson } from '../../text/sanitize.ts'
import { addressText, plain, quoted } from './inert.ts'
import type { Proposal } from './proposal.ts'
import type { Place } from './wanted.ts'

const MAX_SCOPES = 10
const MAX_TARGETS = 20
const MAX_LINE = 300

const TYPES: Readonly<Record<string, string>> = {
  http: 'HTTP',
  apiKey: 'API key',
  oauth2: 'OAuth 2',
  openIdConnect: 'OpenID Connect',
  signedUrl: 'signing service',
  s3: 'S3',
}

/** How the addresses of the secret and of what comes of it are called; a signature or a signed address is no token. */
const LABELS: Readonly<Record<string, readonly [secret: string, result: string]>> = {
  signedUrl: ['secret goes to', 'may be signed'],
  s3: ['endpoint', 'signature goes to'],
}
const USUAL = ['secret goes to', 'token goes to'] as const

/** Who asks for what, where the secret and what comes of it would go, and with which scopes. */
export function questionText(proposal: Proposal): string {
  const { document, wanted, entry } = proposal
  const asker = document === undefined ? 'you add' : `${addressText(document)} asks for`
  const rows = [...endpointRows(proposal), ...placeRows(proposal), ...scopeRows(proposal)]
  return `${asker} ${quoted(wanted?.name ?? String(entry.id))} (${kindOf(entry)})\n${tableText(rows)}`
}

/** The whole entry, and which of the document's targets it is for. */
export function detailsText({ entry, wanted }: Proposal): string {
  const whole = `  entry\n${entryText(entry)}\n`
  if (!wanted) return whole
  const targets = wanted.targets.slice(0, MAX_TARGETS).map((pointer) => `    ${plain(pointer, 200)}\n`)
  const more = wanted.targets.length > MAX_TARGETS ? `    … and ${wanted.targets.length - MAX_TARGETS} more\n` : ''
  const them = wanted.targets.length === 1 ? 'this target' : 'these targets'
  return `  scheme  ${plain(wanted.pointer, 200)}\n${whole}  for ${them}\n${targets.join('')}${more}`
}

/** An entry as JSON, indented; endless texts are cut. */
export function entryText(entry: CredentialObject): string {
  const lines = forJson(entry, 2).split('\n')
  return lines.map((line) => `    ${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line}`).join('\n')
}

/** The kind of an entry in the words of the standards. */
export function kindOf({ type, flow, scheme, in: place, name }: CredentialObject): string {
  const words = typeof flow === 'string' ? flow.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : scheme
  const more = words ?? (place === undefined ? undefined : `${place} ${name}`)
  return [TYPES[type] ?? plain(type), ...(more === undefined ? [] : [plain(String(more))])].join(', ')
}

type Row = readonly [label: string, ...cells: readonly string[]]

function endpointRows({ document, entry, secretTo, browserTo }: Proposal): Row[] {
  const [label] = LABELS[entry.type] ?? USUAL
  const cell = (url: string) => `${addressText(url)}${isElsewhere(document, url) ? '      another site than the catalog' : ''}`
  return [...browserTo.map((url): Row => ['you log in at', cell(url)]), ...secretTo.map((url): Row => [label, cell(url)])]
}

/** Without an endpoint the secret itself goes along with requests. */
function placeRows({ document, entry, secretTo, places, wanted }: Proposal): Row[] {
  const more = wanted?.more ?? 0
  const [secret, result] = LABELS[entry.type] ?? USUAL
  const label = secretTo.length === 0 && entry.type !== 's3' ? secret : result
  const elsewhere = (pattern: string) =>
    secretTo.length === 0 && isElsewhere(document, pattern) ? '      another site than the catalog' : ''
  const rows = places.map((place, index): Row => [index === 0 ? label : '', `${placeText(place)}${elsewhere(place.pattern)}`])
  if (rows.length === 0) rows.push([label, 'nowhere'])
  return more === 0 ? rows : [...rows, ['', `${more} further ${more === 1 ? 'host is' : 'hosts are'} left out of the entry`]]
}

function placeText({ pattern, counts }: Place): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${count === 1 ? kind : `${kind}s`}`)
  return `${addressText(pattern)}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`
}

function scopeRows({ entry, offered }: Proposal): Row[] {
  const asked = Array.isArray(entry.scopes) ? entry.scopes.map(String) : []
  const others = offered.filter((scope) => !asked.includes(scope))
  if (asked.length === 0 && others.length === 0) return []
  const shown = others.slice(0, MAX_SCOPES).map((scope) => plain(scope, 40))
  const rest = others.length > MAX_SCOPES ? `, and ${others.length - MAX_SCOPES} more` : ''
  const also =
    others.length === 0 ? '' : `      (the catalog ${asked.length > 0 ? 'also ' : ''}lists: ${shown.join(', ')}${rest}; not requested)`
  return [['scopes', `${asked.map((scope) => plain(scope, 40)).join(' ') || 'none'}${also}`]]
}

function tableText(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, ...cells]) => `  ${label.padEnd(width)}   ${cells.join('   ')}\n`).join('')
}

/** A file has no site, and what is not on the catalog's own host may belong to somebody else. */
function isElsewhere(document: string | undefined, url: string): boolean {
  if (document === undefined || !/^https?:/.test(document)) return false
  return new URL(document).hostname !== new URL(url).hostname
}
