/** The file of `time --profile`: the collections of a service, and its conventions. */

import { ConfigurationError, IntegrityError } from '../../errors.ts'
import { readRegularFile } from '../../node/base/index.ts'
import type { TimeTrackingOptions } from '../../services/time-tracking/time-tracking-client.ts'
import { isObject, own } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { jsonIn } from '../read-document.ts'

/** What a file says. */
export interface TimeProfile {
  /** Path of the collection that the command names. */
  readonly path: string
  readonly profile: NonNullable<TimeTrackingOptions['profile']>
}

/** Largest file in bytes. */
const LARGEST = 1_000_000

const MEMBERS: ReadonlySet<string> = new Set(['collections', 'paging', 'envelope', 'form', 'replay'])

/** Required members of each paging style. */
const PAGING: Readonly<Record<string, readonly string[]>> = {
  none: [],
  link: [],
  page: ['page'],
  offset: ['offset'],
  cursor: ['cursor', 'parameter'],
  url: ['url'],
}

/**
 * Reads a profile: `{ "collections": { "entries": "time-entries" }, "paging": { "style": "page", "page": "page" } }`. Collections may be a list
 * of names, too, and `paging`, `envelope`, `form` and `replay` are those of the client.
 *
 * Errors: `FILE_ACCESS`; `CONFIG_INVALID` for anything else than a profile, and for a collection that it does not name.
 */
export async function readTimeProfile(file: string, collection: string): Promise<TimeProfile> {
  const read = await readRegularFile(file, LARGEST)
  if ('problem' in read) throw new IntegrityError('FILE_ACCESS', `cannot read the profile "${file}": it ${read.problem}`)
  const parsed = jsonIn(read.bytes)
  const refuse = (why: string, hint?: string): never => {
    throw new ConfigurationError('CONFIG_INVALID', `the profile "${file}" ${why}`, hint === undefined ? {} : { hint })
  }
  if (!isObject(parsed)) return refuse('is not a JSON object')
  const unknown = Object.keys(parsed).find((name) => !MEMBERS.has(name))
  if (unknown !== undefined) return refuse(`has an unknown member "${unknown}"`, `the members are ${[...MEMBERS].join(', ')}`)
  const { collections = [], ...profile } = parsed
  const paths = Array.isArray(collections) ? Object.fromEntries(collections.map((name) => [name, name])) : collections
  if (!isObject(paths) || !Object.values(paths).every((one) => typeof one === 'string'))
    return refuse('must have "collections": a list of names, or an object of names and paths')
  const style = own(profile.paging, 'style')
  const required = typeof style === 'string' && Object.hasOwn(PAGING, style) ? PAGING[style] : undefined
  if (profile.paging !== undefined && !required?.every((name) => typeof own(profile.paging, name) === 'string'))
    return refuse('has an invalid "paging"', `its styles are ${Object.entries(PAGING).map(styleText).join(', ')}`)
  const isKnown = collection === 'projects' || collection === 'customers'
  const path = own(paths, collection) ?? (isKnown ? collection : undefined)
  if (typeof path === 'string') return { path, profile }
  const names = [...Object.keys(paths), 'projects', 'customers']
  const near = nearMiss(collection, names)
  return refuse(`has no collection "${collection}"`, near === undefined ? `it has ${names.join(', ')}` : `did you mean "${near}"?`)
}

function styleText([style, members]: readonly [string, readonly string[]]): string {
  return members.length === 0 ? style : `${style} (with ${members.join(' and ')})`
}
