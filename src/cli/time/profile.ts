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

/** What a member may be: any text, or one of these values. */
type Values = 'text' | readonly unknown[]

interface Shape {
  readonly required?: Readonly<Record<string, Values>>
  readonly optional?: Readonly<Record<string, Values>>
}

const NUMBERED = { size: 'text', total: 'text', shortIsLast: [true] } as const

/** Members of each paging style, as in `Paging` of the client. */
const PAGING: Readonly<Record<string, Shape>> = {
  none: {},
  link: {},
  page: { required: { page: 'text' }, optional: { start: [0, 1], ...NUMBERED } },
  offset: { required: { offset: 'text' }, optional: NUMBERED },
  cursor: { required: { cursor: 'text', parameter: 'text' }, optional: { size: 'text', explicitEnd: [true] } },
  url: { required: { url: 'text' }, optional: { explicitEnd: [true] } },
}

const CLASSES = ['safe', 'idem', 'unsafe', 'once']

const REPLAY: Shape = { optional: Object.fromEntries(['list', 'get', 'create', 'update', 'delete'].map((action) => [action, CLASSES])) }

/** As `FormOptions` of the client. */
const FORM: Shape = {
  optional: {
    arrays: ['indices', 'brackets', 'repeat', 'comma'],
    nesting: ['brackets', 'dots'],
    booleans: ['digits', 'words'],
    dates: ['iso', 'unix'],
    nulls: ['empty', 'skip', 'error'],
    spaces: ['percent', 'plus'],
  },
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
  const { paging, envelope, form, replay } = profile
  if (paging !== undefined && !isPaging(paging))
    return refuse('has an invalid "paging"', `its styles are ${Object.entries(PAGING).map(styleText).join(', ')}`)
  if (form !== undefined && !fits(form, FORM)) return refuse('has an invalid "form"', `it may have ${shapeText(FORM)}`)
  if (replay !== undefined && !fits(replay, REPLAY)) return refuse('has an invalid "replay"', `it may have ${shapeText(REPLAY)}`)
  if (![undefined, 'auto', false].includes(envelope as never) && !fits(envelope, { required: { member: 'text' } }))
    return refuse('has an invalid "envelope"', 'it is "auto", false or { "member": "NAME" }')
  const isKnown = collection === 'projects' || collection === 'customers'
  const path = own(paths, collection) ?? (isKnown ? collection : undefined)
  if (typeof path === 'string') return { path, profile }
  const names = [...Object.keys(paths), 'projects', 'customers']
  const near = nearMiss(collection, names)
  return refuse(`has no collection "${collection}"`, near === undefined ? `it has ${names.join(', ')}` : `did you mean "${near}"?`)
}

function isPaging(paging: unknown): boolean {
  if (!isObject(paging)) return false
  const { style, ...others } = paging
  return typeof style === 'string' && Object.hasOwn(PAGING, style) && fits(others, PAGING[style] ?? {})
}

function fits(value: unknown, { required = {}, optional = {} }: Shape): boolean {
  const allowed: Readonly<Record<string, Values>> = { ...required, ...optional }
  const isAllowed = ([name, one]: readonly [string, unknown]) => {
    const values = Object.hasOwn(allowed, name) ? allowed[name] : []
    return values === 'text' ? typeof one === 'string' : values?.includes(one)
  }
  return isObject(value) && Object.entries(value).every(isAllowed) && Object.keys(required).every((name) => Object.hasOwn(value, name))
}

function styleText([style, shape]: readonly [string, Shape]): string {
  const text = shapeText(shape)
  return text === '' ? style : `${style} (${text})`
}

function shapeText({ required = {}, optional = {} }: Shape): string {
  const optionals = Object.entries(optional).map(([name, values]) => (values === 'text' ? `[${name}]` : `[${name}: ${values.join(' | ')}]`))
  return [...Object.keys(required), ...optionals].join(', ')
}
