/**
 * Broken documents: what the published JSON Schemas refuse, the linter refuses, but for the reasons listed here; what they accept, it
 * refuses only for mistakes that they cannot see. `MUTANTS=80000` tries more of them, and shows the counts.
 */
import { describe, expect, it } from 'vitest'
import { lint, type Problem } from '../../src/lint/index.ts'
import { declarationsOf, isObject, own } from '../../src/stac/document.ts'
import { SCHEME_TYPES } from '../../src/stac/scheme.ts'
import { examples, type Mutant, mutants } from './mutants.ts'
import { type Refusal, refusalsOf } from './published-schemas.ts'

const SEED = 20261123
const ALWAYS = 8000
const amount = Number(process.env.MUTANTS ?? ALWAYS)

interface Reason {
  /** How many of the first 8,000 mutants pass in the preset `recommended` for this reason alone. */
  readonly count: number
  /** The same in the preset `schema`, which says what the published schemas say; default: as many. */
  readonly inSchema?: number
  readonly explains: (refusal: Refusal, mutant: Mutant, problems: readonly Problem[]) => boolean
}

/** Why the linter lets pass what a published schema refuses. */
const REASONS: Readonly<Record<string, Reason>> = {
  'fields of other types on a custom type, which means what its author says; a warning': {
    count: 71,
    inSchema: 0,
    explains: ({ pointer, keyword }, { value }, problems) => {
      const type = own(valueAt(value, parentOf(pointer)), 'type')
      const isCustom = typeof type === 'string' && !(SCHEME_TYPES as readonly string[]).includes(type)
      return keyword === 'false schema' && isCustom && isWarned(pointer, problems)
    },
  },
  'a line break in the name of a scheme; a warning about the name': {
    count: 1,
    explains: ({ pointer, keyword }, _, problems) =>
      (keyword === 'pattern' || keyword === 'propertyNames') &&
      problems.some(({ code }) => code === 'scheme-name') &&
      isWarned(pointer, problems),
  },
  'schemes on an asset or link, references on a document: the text of the extension can be read so; a warning': {
    count: 11,
    inSchema: 0,
    explains: ({ pointer }, _, problems) =>
      /\/auth:schemes$|^(?:\/\w+\/\d+)*(?:\/properties)?\/auth:refs$/.test(pointer) && isWarned(pointer, problems),
  },
  'a field with the prefix of the extension that it does not define breaks nothing; a warning': {
    count: 37,
    inSchema: 0,
    explains: ({ pointer }, _, problems) => /\/auth:(?!refs$|schemes$)[^/]*$/.test(pointer) && isWarned(pointer, problems),
  },
  'keys of the map of alternate assets are free': {
    count: 1,
    explains: ({ pointer, keyword }) => keyword === 'false schema' && /\/alternate\/auth:[^/]+$/.test(pointer),
  },
  'a signing API with a relative address works where the address of the document is known; a warning': {
    count: 4,
    inSchema: 0,
    explains: ({ pointer, keyword }, _, problems) =>
      keyword === 'format' && /\/authorizationApi$/.test(pointer) && isWarned(pointer, problems),
  },
  'names of flows written twice in a row, and an empty one, count as these names; the preset recommended reports the name': {
    count: 2,
    explains: ({ pointer, keyword }, _, problems) =>
      keyword === 'required' &&
      /\/flows\/(?:(?:implicit|authorizationCode|password|clientCredentials|tokenExchange){2,})?$/.test(pointer) &&
      problems.some((problem) => problem.pointer === pointer),
  },
  'an unknown version is read as the newest one; a warning': {
    count: 4,
    inSchema: 0,
    explains: ({ pointer }, _, problems) => /\/stac_extensions(?:\/\d+)?$/.test(pointer) && isWarned(pointer, problems),
  },
  'the schema demands that each document uses the extension; this one does not any more': {
    count: 44,
    explains: ({ pointer }, { value }) => !usesExtension(valueAt(value, documentOf(pointer))),
  },
  'an object that neither has a type of STAC nor uses the extension itself is not read; a warning': {
    count: 3,
    explains: ({ pointer }, _, problems) => problems.some(({ code, pointer: at }) => code === 'unknown-document' && pointer.startsWith(at)),
  },
  'the schema of 1.0.0 knows no Catalogs, reads names of schemes as fields of a scheme, and demands assets and links': {
    count: 2,
    explains: ({ pointer, missing, version }, { value }) =>
      version === '1.0.0' &&
      (own(valueAt(value, documentOf(pointer)), 'type') === 'Catalog' ||
        /^(?:assets|links)$/.test(missing ?? '') ||
        /\/auth:schemes\/\w+(?:\/|$)/.test(pointer)),
  },
}

/** Places that no published schema looks at. */
const UNSEEN: readonly [place: string, count: number, holds: (pointer: string, mutant: Mutant) => boolean][] = [
  ['schemes in summaries', 686, (pointer) => /\/summaries\b/.test(pointer)],
  ['alternate assets', 84, (pointer) => /\/alternate\//.test(pointer)],
  ['schemes of 1.0.0', 592, (_, { text }) => text.includes('/authentication/v1.0.0/')],
]

/** Rules whose errors no schema of a single document can see, or that the published ones leave out, with the number of mutants. */
const BEYOND: Readonly<Record<string, number>> = {
  // Misspelt where the schema has no list of fields
  'auth-field-name': 25,
  // A name that nothing defines
  'dangling-ref': 228,
  // Lists of Items whose own type is missing or wrong: the schema reads the Items in it; an empty list: it reads nothing
  'document-type': 9,
  // Discovery addresses have no format; other protocols than https
  'endpoint-url': 15,
  // `parameters` and their like need not be objects
  'field-type': 11,
  // No list of words for `in` and `method`, and for names of keys
  'field-value': 59,
  // `flows` may be anything, and empty
  'flows-map': 53,
  // Fields in places that it does not look at
  'misplaced-field': 111,
  // Names of flows are free
  'oauth-flow': 15,
  // Addresses that no request can be sent to
  'protected-href': 1,
  // References of schemes before 1.2.0
  'refs-list': 5,
  // Schemes inside of schemes
  'scheme-field': 11,
  // References of schemes to nothing, and in circles
  'scheme-refs': 15,
  // Almost a defined type, or none at all
  'scheme-type': 2,
  // Maps around the documents of a wrapper
  'schemes-map': 1,
  // A secret
  'secret-in-document': 1,
  // A wrapper that uses it and does not say so
  'undeclared-extension': 3,
}

describe('mutants of documents in the shapes of the examples', () => {
  it('start from documents that the published schemas and the linter accept', () => {
    for (const { document, version } of examples) {
      expect(refusalsOf(document, version)).toEqual([])
      // The storage extension is none of the schemas compared here.
      const storage = { 'dangling-storage-ref': 'off' } as const
      expect(lint(document, { rules: storage }).filter(({ severity }) => severity !== 'info')).toEqual([])
    }
  })

  it('each mutant that a published schema refuses gets an error, with the listed exceptions only', () => {
    const found = compareAll()
    expect(found.unexplained).toEqual([])
    expect(found.invalid).toBeGreaterThan(amount / 4)
    if (amount !== ALWAYS) console.info(amount, found)
    else
      expect({ reasons: found.reasons, inSchema: found.inSchema, unseen: found.unseen, beyond: found.beyond }).toEqual({
        reasons: Object.fromEntries(Object.entries(REASONS).map(([name, { count }]) => [name, count])),
        inSchema: Object.fromEntries(Object.entries(REASONS).map(([name, { count, inSchema = count }]) => [name, inSchema])),
        unseen: Object.fromEntries(UNSEEN.map(([place, count]) => [place, count])),
        beyond: BEYOND,
      })
  })
})

/** The mutants by what the published schemas and the linter say of them. */
function compareAll() {
  const reasons = Object.fromEntries(Object.keys(REASONS).map((name) => [name, 0]))
  const inSchema = { ...reasons }
  const unseen = Object.fromEntries(UNSEEN.map(([place]) => [place, 0]))
  const beyond: Record<string, number> = {}
  const unexplained: string[] = []
  let invalid = 0
  let tried = 0
  for (const mutant of mutants(SEED)) {
    if (tried++ === amount) break
    const refusals = refusalsOf(mutant.value, mutant.example.version)
    const problems = lint(mutant.value)
    const errors = problems.filter(({ severity }) => severity === 'error')
    if (refusals.length > 0) invalid++
    const passing = [
      ...(errors.length === 0 ? [reasons] : []),
      ...(refusals.length > 0 && lint(mutant.value, { preset: 'schema' }).length === 0 ? [inSchema] : []),
    ]
    if (refusals.length > 0 && passing.length > 0) {
      const names = refusals.map((refusal) => reasonFor(refusal, mutant, problems))
      const name = names.includes(undefined) ? undefined : names[0]
      if (name === undefined) unexplained.push(`${JSON.stringify(refusals)} ${mutant.text}`)
      else for (const counts of passing) counts[name] = (counts[name] ?? 0) + 1
    } else if (refusals.length === 0) {
      for (const place of new Set(errors.map((error) => placeOf(error, mutant)))) {
        const counts = Object.hasOwn(unseen, place) ? unseen : beyond
        counts[place] = (counts[place] ?? 0) + 1
      }
    }
  }
  return { invalid, reasons, inSchema, unseen, beyond, unexplained: unexplained.slice(0, 5), unexplainedAll: unexplained.length }
}

function reasonFor(refusal: Refusal, mutant: Mutant, problems: readonly Problem[]): string | undefined {
  return Object.entries(REASONS).find(([, { explains }]) => explains(refusal, mutant, problems))?.[0]
}

function placeOf({ pointer, rule }: Problem, mutant: Mutant): string {
  return UNSEEN.find(([, , holds]) => holds(pointer, mutant))?.[0] ?? rule
}

function isWarned(pointer: string, problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'warn' && (problem.pointer === pointer || parentOf(problem.pointer) === pointer))
}

/** True when it declares the extension or has a field with its prefix, wherever. */
function usesExtension(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(usesExtension)
  if (!isObject(value)) return false
  return declarationsOf(value).length > 0 || Object.entries(value).some(([name, inner]) => name.startsWith('auth:') || usesExtension(inner))
}

/** Pointer of the document that holds the place. */
function documentOf(pointer: string): string {
  return /^(?:(?:\/(?:features|collections))?\/\d+)*/.exec(pointer)?.[0] ?? ''
}

function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')))
}

function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduce<unknown>((inner, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return Array.isArray(inner) ? inner[Number(key)] : isObject(inner) ? own(inner, key) : undefined
  }, value)
}
