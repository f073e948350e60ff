/** Options that several commands share, and the targets they select. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Auth } from '../auth/auth.ts'
import { ConfigurationError } from '../errors.ts'
import type { StacDocument } from '../stac/document.ts'
import { isObject, own, ownString } from '../stac/json.ts'
import { findAlternate, findAsset, linkOf, type Target, type TargetOptions } from '../stac/target.ts'
import type { Io } from './io.ts'
import { readDocument } from './read-document.ts'
import { usageError } from './usage.ts'

/** The end of the description of a repeatable option. */
const REPEATABLE = '(repeatable)'

interface TargetChoice {
  readonly asset?: string
  readonly alternate?: string
  readonly link?: string
}

export interface CredentialsOption {
  readonly credentials?: string
}

export interface ByAddressOption {
  readonly byAddress?: boolean
}

/** Which target is requested, and with which credentials. */
export interface TargetRequestOptions extends TargetChoice, CredentialsOption, ByAddressOption {}

/** Adds the options of {@link TargetRequestOptions}. */
export function withTargetRequestOptions(command: Command): Command {
  return withByAddressOption(withCredentialsOption(withTargetOptions(command)))
}

/** Adds `--asset`, `--alternate` and `--link`. */
function withTargetOptions(command: Command): Command {
  return command
    .option('--asset <key>', 'select the asset with this key')
    .option('--alternate <key/name>', 'select an alternate asset by asset key and alternate name')
    .option('--link <rel>', 'select the first link with this relation; REL#n the n-th, from 0')
}

/** Adds `--credentials`. */
export function withCredentialsOption(command: Command): Command {
  return command.option(
    '--credentials <file>',
    "read this credential file (default: STAC_AUTH_CREDENTIALS, then the user's configuration folder)",
  )
}

/** Adds `--by-address`. */
export function withByAddressOption(command: Command): Command {
  return command.option('--by-address', 'use the credential whose sendTo allows the URL for targets without auth:refs')
}

/** Refuses repeated options of a command and its subcommands, except {@link REPEATABLE} ones. Errors while parsing: `USAGE`. */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    let given = 0
    if (!option.required || option.description.endsWith(REPEATABLE)) continue
    command.on(`option:${option.name()}`, () => {
      if (++given > 1) throw usageError(`${option.long} is given twice`)
    })
  }
  for (const below of command.commands) refuseRepeats(below)
}

/** Returns true if a target option is given. Errors: `USAGE` for more than one. */
export function isChosen(choice: TargetChoice): boolean {
  const given = [choice.asset, choice.alternate, choice.link].filter((value) => value !== undefined)
  if (given.length > 1) throw usageError('--asset, --alternate and --link exclude each other')
  return given.length === 1
}

/** Returns the target that the options select. Errors: `USAGE` for none or several options, `TARGET_NOT_FOUND`. */
export function chosenTarget(document: StacDocument, choice: TargetChoice, options: TargetOptions): Target {
  if (!isChosen(choice)) throw usageError('no target is selected: give --asset KEY, --alternate KEY/NAME or --link REL')
  const target =
    choice.asset !== undefined
      ? findAsset(document, choice.asset, options)
      : choice.alternate !== undefined
        ? alternateNamed(document, choice.alternate, options)
        : linkNamed(document, choice.link ?? '', options)
  return target ?? notFound(document, choice)
}

/** Splits at the last slash that leaves an existing asset key, because asset keys may contain slashes. */
function alternateNamed(document: StacDocument, name: string, options: TargetOptions): Target | undefined {
  for (let slash = name.lastIndexOf('/'); slash >= 0; slash = slash > 0 ? name.lastIndexOf('/', slash - 1) : -1) {
    const key = name.slice(0, slash)
    if (own(own(document, 'assets'), key) !== undefined) return findAlternate(document, key, name.slice(slash + 1), options)
  }
  return undefined
}

/** Tries the full name first, because a relation may itself end in `#` and digits. */
function linkNamed(document: StacDocument, name: string, options: TargetOptions): Target | undefined {
  const [, rel, index] = /^(.*)#(\d+)$/s.exec(name) ?? []
  const link = linkOf(document, name, options)
  return link ?? (rel === undefined ? undefined : linkOf(document, rel, { ...options, index: Number(index) }))
}

function notFound(document: StacDocument, { asset, alternate, link }: TargetChoice): never {
  const [kind, name] = asset !== undefined ? ['asset', asset] : alternate !== undefined ? ['alternate asset', alternate] : ['link', link]
  const present = kind === 'link' ? relations(document) : kind === 'asset' ? Object.keys(assets(document)) : alternates(document)
  const list = present.slice(0, 10).join(', ') + (present.length > 10 ? `, … (${present.length} in all)` : '')
  const what = kind === 'link' ? 'the relations are' : kind === 'asset' ? 'the assets are' : 'give KEY/NAME; the alternate assets are'
  throw new ConfigurationError('TARGET_NOT_FOUND', `the document has no ${kind} "${name}"`, { hint: `${what}: ${list || 'none'}` })
}

function assets(document: StacDocument): object {
  const found = own(document, 'assets')
  return isObject(found) ? found : {}
}

/** Alternate assets as they are given on the command line. */
function alternates(document: StacDocument): string[] {
  return Object.entries(assets(document)).flatMap(([key, asset]) =>
    Object.keys(own(asset, 'alternate') ?? {}).map((name) => `${key}/${name}`),
  )
}

function relations(document: StacDocument): string[] {
  const links = own(document, 'links')
  return Array.isArray(links) ? [...new Set(links.flatMap((link) => ownString(link, 'rel') ?? []))] : []
}

/** Returns a parser of whole numbers from `least` up. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw new InvalidArgumentError(`It must be a whole number from ${least}.`)
    return Number(text)
  }
}

/** Parses a port number. */
export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0 || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port from 1 to 65535.')
  return Number(text)
}

/** Parses a positive number. */
export function positive(text: string): number {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('It must be a positive number.')
  return Number(text)
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Parses a number of bytes: `500k`, `2.5M`, `1G`, in units of 1000. */
export function byteCount(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]?)b?$/i.exec(text) ?? []
  const bytes = Math.round(Number(number) * (UNITS[unit.toLowerCase()] ?? 1))
  if (bytes < 1) throw new InvalidArgumentError('It must be a number of bytes, such as 500k or 10M.')
  return bytes
}

/**
 * Returns the target that the options select from a document, else the URL that the user gave.
 *
 * Errors: `USAGE` for a file without a target option and for an unsupported URL scheme; those of `readDocument`; `TARGET_NOT_FOUND`.
 */
export async function targetOrUrl(name: string, choice: TargetChoice, io: Io, auth: () => Promise<Auth>): Promise<Target | string> {
  if (!isChosen(choice)) {
    requireUrl(name)
    return name
  }
  const { document, url } = await readDocument(name, io, auth)
  return chosenTarget(document, choice, url === undefined ? {} : { url })
}

function requireUrl(name: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase()
  if (scheme === undefined) throw usageError('no target is selected: give --asset KEY, --alternate KEY/NAME or --link REL')
  if (['https', 'http', 's3', 'gs'].includes(scheme)) return
  throw usageError(`unsupported URL scheme "${scheme}": give an https:, http:, s3: or gs: URL`)
}
