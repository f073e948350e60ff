/** The texts of questions before a credential is created or changed. Text of the catalog is escaped. */

import { domainToASCII, domainToUnicode } from 'node:url'
import type { CredentialObject } from '../../auth/credential.ts'
import { isLoopbackHost, isPublicHost } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { MissingCredential, PatternUse } from './missing-credentials.ts'
import type { Proposal } from './proposal.ts'

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

/** Labels of the URLs that receive the secret and the token, signature or signed URL made with it. */
const LABELS: Readonly<Record<string, readonly [secret: string, result: string]>> = {
  signedUrl: ['secret goes to', 'may be signed'],
  s3: ['endpoint', 'signature goes to'],
}

const USUAL = ['secret goes to', 'token goes to'] as const

/** Formats the question: the document, the scheme, the URLs that receive the secret or token, and the scopes. */
export function questionText(proposal: Proposal): string {
  const { document, wanted, entry } = proposal
  const asker = document === undefined ? 'you add' : `${urlText(document)} asks for`
  const caution = wanted?.code === 'SCHEME_MISMATCH' || wanted?.code === 'CREDENTIAL_ENDPOINT_UNTRUSTED' ? cautionText(wanted) : ''
  return `${asker} ${quoted(wanted?.name ?? String(entry.id))} (${kindOf(entry)})\n${tableText([...endpointRows(proposal), ...shortened(placeRows(proposal), entry), ...scopeRows(proposal)])}${caution}`
}

/** Formats the URLs that receive the secret or the token, and the scopes. */
export function placeTable(proposal: Proposal): string {
  return tableText([...endpointRows(proposal), ...placeRows(proposal), ...scopeRows(proposal)])
}

/** Says how the scheme differs from the credential that comes closest. */
function cautionText({ reason = '' }: MissingCredential): string {
  return `  note: ${plain(reason.replace(/\. Nothing was sent$/, ''), 300)}\n`
}

/** Formats the full credential and its targets in the document. */
export function detailsText({ entry, wanted }: Proposal): string {
  const whole = `  credential\n${credentialText(entry)}\n`
  if (!wanted) return whole
  const targets = wanted.targets.slice(0, MAX_TARGETS).map((pointer) => `    ${plain(pointer, 200)}\n`)
  const more = wanted.targets.length > MAX_TARGETS ? `    … and ${wanted.targets.length - MAX_TARGETS} more\n` : ''
  const them = wanted.targets.length === 1 ? 'this target' : 'these targets'
  return `  scheme  ${plain(wanted.pointer, 200)}\n${whole}  for ${them}\n${targets.join('')}${more}`
}

/** Formats a credential as indented JSON; long lines are cut. */
export function credentialText(credential: CredentialObject): string {
  const lines = forJson(credential, 2).split('\n')
  return lines.map((line) => `    ${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line}`).join('\n')
}

/** Formats the type of a credential, such as "OAuth 2, authorization code". */
export function kindOf({ type, flow, scheme, in: place, name }: CredentialObject): string {
  const words = typeof flow === 'string' ? flow.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : scheme
  const more = words ?? (place === undefined ? undefined : `${place} ${name}`)
  return [TYPES[type] ?? plain(type), ...(more === undefined ? [] : [plain(String(more))])].join(', ')
}

type TableRow = readonly [label: string, ...cells: readonly string[]]

function endpointRows({ document, entry, secretTo, browserTo }: Proposal): TableRow[] {
  const { type, provider } = entry
  // A known provider that signs for everyone gets no secret.
  const isOpen = type === 'signedUrl' && provider !== undefined && entry.with === undefined
  const [label] = isOpen ? ['signed by'] : (LABELS[type] ?? USUAL)
  const cell = (url: string) =>
    `${urlText(url)}${networkText(document, url)}${isElsewhere(document, url) ? '      not the host of the catalog' : ''}`
  return [...browserTo.map((url): TableRow => ['you log in at', cell(url)]), ...secretTo.map((url): TableRow => [label, cell(url)])]
}

/** Formats the allowed URLs; without an endpoint, requests carry the secret itself. */
function placeRows({ document, entry, secretTo, places, wanted }: Proposal): TableRow[] {
  const more = wanted?.more ?? 0
  const [secret, result] = LABELS[entry.type] ?? USUAL
  const label = secretTo.length === 0 && entry.type !== 's3' ? secret : result
  const elsewhere = (pattern: string) =>
    secretTo.length === 0 && isElsewhere(document, pattern) ? '      not the host of the catalog' : ''
  const rows = places.map(
    (place, index): TableRow => [
      index === 0 ? label : '',
      `${placeText(place)}${networkText(document, place.pattern)}${elsewhere(place.pattern)}`,
    ],
  )
  if (rows.length === 0) rows.push([label, 'no URL'])
  return more === 0 ? rows : [...rows, ['', `${more} more ${more === 1 ? 'host is' : 'hosts are'} not included`]]
}

/** Allowed URLs of a provider that a question names. */
const NAMED = 3

/** Cuts the many URLs of a known provider, which its page lists. */
function shortened(rows: readonly TableRow[], { provider }: CredentialObject): readonly TableRow[] {
  const more = rows.length - NAMED
  if (typeof provider !== 'string' || more < 2) return rows
  return [...rows.slice(0, NAMED), ['', `and ${more} more (stac-auth providers ${plain(provider)} lists them)`]]
}

function placeText({ pattern, counts, calls = [] }: PatternUse): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${count === 1 ? kind : `${kind}s`}`)
  const uses = [...kinds, ...calls.map((name) => `for ${quoted(name)}`)]
  return `${urlText(pattern)}${uses.length === 0 ? '' : ` (${uses.join(', ')})`}`
}

/** Says that a host other than the catalog's is not public. */
function networkText(document: string | undefined, address: string): string {
  if (document !== undefined && /^https?:/.test(document) && !isElsewhere(document, address)) return ''
  const probe = address.replace('://*.', '://')
  const host = /^https?:/.test(address) && canParseUrl(probe) ? new URL(probe).hostname : ''
  if (host === '' || isPublicHost(host)) return ''
  return isLoopbackHost(host) ? '      on this machine' : '      in your private network'
}

function scopeRows({ entry, offered }: Proposal): TableRow[] {
  const asked = Array.isArray(entry.scopes) ? entry.scopes.map(String) : []
  const others = offered.filter((scope) => !asked.includes(scope))
  if (asked.length === 0 && others.length === 0) return []
  const shown = others.slice(0, MAX_SCOPES).map((scope) => plain(scope, 40))
  const rest = others.length > MAX_SCOPES ? `, and ${others.length - MAX_SCOPES} more` : ''
  const also =
    others.length === 0 ? '' : `      (the catalog ${asked.length > 0 ? 'also ' : ''}lists: ${shown.join(', ')}${rest}; not requested)`
  return [['scopes', `${asked.map((scope) => plain(scope, 40)).join(' ') || 'none'}${also}`]]
}

function tableText(rows: readonly TableRow[]): string {
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, ...cells]) => `  ${label.padEnd(width)}   ${cells.join('   ')}\n`).join('')
}

/** Returns true for a URL on another host than the document; false for a document in a file. */
function isElsewhere(document: string | undefined, url: string): boolean {
  if (document === undefined || !/^https?:/.test(document)) return false
  return new URL(document).hostname !== new URL(url).hostname
}

/** Combining characters and repeated spaces: in a question no letter may look like another. */
const ODD = /\p{M}| (?= )/gu

/** Returns the text of {@link plain} in quotes. */
export function quoted(text: string, length = 60): string {
  return `"${plain(text, length).replace(/["\\](?!u\{)/g, '\\$&')}"`
}

/** Escapes unusual characters and cuts the text to `length` characters, on one line. */
export function plain(text: string, length = 60): string {
  const characters = [...text.normalize('NFC').slice(0, 4 * length)]
  const cut = characters.length > length || text.length > 4 * length
  const shown = characters.slice(0, cut ? length - 1 : length).join('')
  return forLine(shown).replace(ODD, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`) + (cut ? '…' : '')
}

/** Formats a URL or pattern with its host in ASCII, followed by the Unicode form if it differs. */
export function urlText(address: string): string {
  const probe = address.replace('://*.', '://')
  const host = canParseUrl(probe) ? new URL(probe).hostname : ''
  const unicode = domainToUnicode(host)
  const [, before = '', written = ''] = /^(.*?:\/\/(?:\*\.)?)([^/?#:@[]+)/s.exec(address) ?? []
  const isWritten = host !== '' && domainToASCII(written) === host
  const shown = isWritten ? `${before}${host}${address.slice(before.length + written.length)}` : address
  return `${plain(shown, 500)}${unicode === '' || unicode === host ? '' : ` (${plain(unicode, 253)})`}`
}
