/** What a person reads before a credential is created or widened. Every word of the catalog in it is inert. */

import { createInterface, type Interface } from 'node:readline'
import { domainToASCII, domainToUnicode } from 'node:url'
import type { CredentialObject } from '../../auth/credential.ts'
import { AbortedError } from '../../errors.ts'
import { forJson } from '../../text/sanitize.ts'
import { type Io, write } from '../io.ts'
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
  const whole = `  entry\n${credentialText(entry)}\n`
  if (!wanted) return whole
  const targets = wanted.targets.slice(0, MAX_TARGETS).map((pointer) => `    ${plain(pointer, 200)}\n`)
  const more = wanted.targets.length > MAX_TARGETS ? `    … and ${wanted.targets.length - MAX_TARGETS} more\n` : ''
  const them = wanted.targets.length === 1 ? 'this target' : 'these targets'
  return `  scheme  ${plain(wanted.pointer, 200)}\n${whole}  for ${them}\n${targets.join('')}${more}`
}

/** An entry as JSON, indented; endless texts are cut. */
export function credentialText(credential: CredentialObject): string {
  const lines = forJson(credential, 2).split('\n')
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

/** True when questions can be asked: input and stderr are a terminal that is more than a printer. */
export function isTerminal({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb'
}

/** Asks for lines. Whoever makes it closes it: it keeps the input. */
export class Terminal {
  readonly #io: Io
  readonly #reader: Interface
  readonly #lines: AsyncIterator<string>

  constructor(io: Io) {
    this.#io = io
    // The terminal itself echoes and edits: nothing of ours moves the cursor.
    this.#reader = createInterface({ input: io.stdin, terminal: false })
    this.#lines = this.#reader[Symbol.asyncIterator]()
  }

  /** The line that is typed, without blanks around it. Errors: `ABORTED` at the end of the input. */
  async ask(question: string): Promise<string> {
    await this.say(question)
    const { value, done } = await this.#lines.next()
    if (!done) return value.trim()
    await this.say('\n')
    throw new AbortedError('the prompt was left')
  }

  /** Shows a text that is safe to show. */
  say(text: string): Promise<void> {
    return write(this.#io.stderr, text)
  }

  /** True for yes, and for nothing else; `details` are shown when they are asked for, as often as that is. */
  async agrees(question: string, details: string): Promise<boolean> {
    for (;;) {
      const answer = (await this.ask(`${question}  [y]es / [N]o / [d]etails `)).toLowerCase()
      if (answer !== 'd' && answer !== 'details') return answer === 'y' || answer === 'yes'
      await this.say(details)
    }
  }

  close(): void {
    this.#reader.close()
  }
}

/** What is invisible, moves or stacks: all but letters, digits, signs and single blanks. */
const ODD = /[\p{C}\p{M}]|(?! )[\p{Z}]| (?= )/gu

/** On one line, in quotes, with everything odd written out, and no longer than `length` characters. */
export function quoted(text: string, length = 60): string {
  return `"${plain(text, length).replace(/["\\](?!u\{)/g, '\\$&')}"`
}

/** The same without the quotes. */
export function plain(text: string, length = 60): string {
  const characters = [...text.normalize('NFC').slice(0, 4 * length)]
  const cut = characters.length > length || text.length > 4 * length
  const shown = characters.slice(0, cut ? length - 1 : length).join('')
  return shown.replace(ODD, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`) + (cut ? '…' : '')
}

/** An address or pattern with its host in ASCII, and the Unicode form behind it where that differs. */
export function addressText(address: string): string {
  const probe = address.replace('://*.', '://')
  const host = URL.canParse(probe) ? new URL(probe).hostname : ''
  const unicode = domainToUnicode(host)
  const [, before = '', written = ''] = /^(.*?:\/\/(?:\*\.)?)([^/?#:@[]+)/s.exec(address) ?? []
  const isWritten = host !== '' && domainToASCII(written) === host
  const shown = isWritten ? `${before}${host}${address.slice(before.length + written.length)}` : address
  return `${plain(shown, 500)}${unicode === '' || unicode === host ? '' : ` (${plain(unicode, 253)})`}`
}
