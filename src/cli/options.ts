/** Options that several commands share, and what they choose. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Auth } from '../auth/auth.ts'
import { ConfigurationError } from '../errors.ts'
import type { StacDocument } from '../stac/document.ts'
import { isObject, own, ownString } from '../stac/json.ts'
import { findAlternate, findAsset, linkOf, type Target, type TargetOptions } from '../stac/target.ts'
import type { Io } from './io.ts'
import { isAddress, readDocument } from './read-document.ts'
import { usageError } from './usage.ts'

/** How the description of an option ends that may be given several times. */
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
    .option('--asset <key>', 'the asset of that key')
    .option('--alternate <key/name>', 'an alternate asset: the key of its asset, a slash, its own name')
    .option('--link <rel>', 'the first link of that relation; REL#n takes the n-th of them, from 0')
}

/** Adds `--credentials`. */
export function withCredentialsOption(command: Command): Command {
  return command.option(
    '--credentials <file>',
    "the credential file (default: STAC_AUTH_CREDENTIALS, then the user's configuration folder)",
  )
}

/** Adds `--by-address`. */
export function withByAddressOption(command: Command): Command {
  return command.option('--by-address', 'send a target without auth:refs the credential whose sendTo covers its URL')
}

/** Makes it a `USAGE` error to give an option of the command, or of one below it, two values; except where {@link REPEATABLE} allows it. */
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

/** True when one of the target options is given. Errors: `USAGE` for more than one. */
export function isChosen(choice: TargetChoice): boolean {
  const given = [choice.asset, choice.alternate, choice.link].filter((value) => value !== undefined)
  if (given.length > 1) throw usageError('--asset, --alternate and --link exclude each other')
  return given.length === 1
}

/** The target that the options name. Errors: `USAGE` without any or with several, `TARGET_NOT_FOUND`. */
export function chosenTarget(document: StacDocument, choice: TargetChoice, options: TargetOptions): Target {
  if (!isChosen(choice)) throw usageError('what is wanted? Give --asset KEY, --alternate KEY/NAME or --link REL')
  const target =
    choice.asset !== undefined
      ? findAsset(document, choice.asset, options)
      : choice.alternate !== undefined
        ? alternateNamed(document, choice.alternate, options)
        : linkNamed(document, choice.link ?? '', options)
  return target ?? notFound(document, choice)
}

/** An asset key may hold slashes: the last slash that leaves a key counts. */
function alternateNamed(document: StacDocument, name: string, options: TargetOptions): Target | undefined {
  for (let slash = name.lastIndexOf('/'); slash >= 0; slash = slash > 0 ? name.lastIndexOf('/', slash - 1) : -1) {
    const key = name.slice(0, slash)
    if (own(own(document, 'assets'), key) !== undefined) return findAlternate(document, key, name.slice(slash + 1), options)
  }
  return undefined
}

/** A relation may end in `#` and digits itself, so it is tried as it stands first. */
function linkNamed(document: StacDocument, name: string, options: TargetOptions): Target | undefined {
  const [, rel, index] = /^(.*)#(\d+)$/s.exec(name) ?? []
  const link = linkOf(document, name, options)
  return link ?? (rel === undefined ? undefined : linkOf(document, rel, { ...options, index: Number(index) }))
}

function notFound(document: StacDocument, { asset, alternate, link }: TargetChoice): never {
  const [kind, name] = asset !== undefined ? ['asset', asset] : alternate !== undefined ? ['alternate asset', alternate] : ['link', link]
  const present = kind === 'link' ? relations(document) : kind === 'asset' ? Object.keys(assets(document)) : alternates(document)
  const list = present.slice(0, 10).join(', ') + (present.length > 10 ? `, … (${present.length} in all)` : '')
  const what = kind === 'link' ? 'relations it has' : kind === 'asset' ? 'assets it has' : 'write KEY/NAME; the document has'
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

/** Reads a whole number from `least` on. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw new InvalidArgumentError(`It must be a whole number from ${least}.`)
    return Number(text)
  }
}

/** Reads a port. */
export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0 || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port, 1 to 65535.')
  return Number(text)
}

/** Reads a number above zero. */
export function positive(text: string): number {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('It must be a positive number.')
  return Number(text)
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Reads a number of bytes: `500k`, `2.5M`, `1G`, in units of 1000. */
export function byteCount(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]?)b?$/i.exec(text) ?? []
  const bytes = Math.round(Number(number) * (UNITS[unit.toLowerCase()] ?? 1))
  if (bytes < 1) throw new InvalidArgumentError('It must be a number of bytes, such as 500k or 10M.')
  return bytes
}

/**
 * What a command is about: the target that the options choose from a document, or else an address that the user typed.
 *
 * Errors: `USAGE` for a file without a choice from it, and for an address that nobody can fetch; those of `readDocument`;
 * `TARGET_NOT_FOUND`.
 *
 * @param deed what is to be done to it, for messages: `fetched`
 */
export async function targetOrAddress(
  name: string,
  choice: TargetChoice,
  io: Io,
  auth: () => Promise<Auth>,
  deed: string,
): Promise<Target | string> {
  if (!isChosen(choice)) {
    requireAddress(name, deed)
    return name
  }
  const { document, url } = await readDocument(name, io, auth)
  return chosenTarget(document, choice, url === undefined ? {} : { url })
}

function requireAddress(name: string, deed: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(name)?.[1]?.toLowerCase()
  if (scheme === undefined) throw usageError(`what is to be ${deed}? Give --asset KEY, --alternate KEY/NAME or --link REL`)
  if (isAddress(name) || scheme === 's3:' || scheme === 'gs:') return
  throw usageError(`${scheme} addresses cannot be ${deed}: only https:, http:, s3: and gs: addresses can`)
}
