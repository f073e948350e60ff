/** Items of STAC 1.1 and the common metadata that applies to their properties, assets and bands. */
const ITEM = 'https://schemas.stacspec.org/v1.1.0/item-spec/json-schema/item.json'

const text = { type: 'string' }
const filled = { type: 'string', minLength: 1 }
const number = { type: 'number' }
const href = { type: 'string', format: 'iri-reference', minLength: 1 }
const utc = { type: 'string', format: 'date-time', pattern: '(\\+00:00|Z)$' }
const percentage = { type: 'number', minimum: 0, maximum: 100 }

const signs = ['int', 'uint']
const TYPES = [
  ...signs.flatMap((kind) => [8, 16, 32, 64].map((bits) => kind + bits)),
  ...['float16', 'float32', 'float64', 'cint16', 'cint32', 'cfloat32', 'cfloat64', 'other'],
]

/** What stands in files of its own, by the name of the file. */
const COMMON = {
  basics: fields({ title: text, description: filled, keywords: { type: 'array', items: text }, roles: { type: 'array', items: text } }),
  bands: fields({
    bands: { type: 'array', minItems: 1, items: { type: 'object', properties: { name: filled }, allOf: [{ $ref: 'common.json' }] } },
  }),
  datetime: {
    ...fields({ datetime: { ...utc, type: ['string', 'null'] }, start_datetime: utc, end_datetime: utc, created: utc, updated: utc }),
    dependencies: { start_datetime: { required: ['end_datetime'] }, end_datetime: { required: ['start_datetime'] } },
  },
  'data-values': fields({
    data_type: { type: 'string', enum: TYPES },
    nodata: { oneOf: [number, { type: 'string', enum: ['nan', 'inf', '-inf'] }] },
    statistics: {
      type: 'object',
      minProperties: 1,
      properties: {
        ...Object.fromEntries(['minimum', 'maximum', 'mean', 'stddev'].map((name) => [name, number])),
        count: { type: 'integer', minimum: 0 },
        valid_percent: percentage,
      },
    },
    unit: text,
  }),
  instrument: fields({
    platform: text,
    instruments: { type: 'array', items: text },
    constellation: text,
    mission: text,
    gsd: { type: 'number', exclusiveMinimum: 0 },
  }),
  licensing: fields({ license: { type: 'string', pattern: '^[\\w.+-]+$' } }),
  provider: fields({
    providers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: filled,
          description: text,
          roles: { type: 'array', items: { type: 'string', enum: ['producer', 'licensor', 'processor', 'host'] } },
          url: { type: 'string', format: 'iri' },
        },
      },
    },
  }),
}

const common = { $ref: 'common.json' }

const link = {
  type: 'object',
  required: ['rel', 'href'],
  properties: {
    href,
    rel: filled,
    type: text,
    title: text,
    method: { type: 'string', pattern: '^[A-Z]+$' },
    headers: { type: 'object', additionalProperties: { oneOf: [text, { type: 'array', items: text }] } },
  },
}

const asset = {
  allOf: [
    {
      type: 'object',
      required: ['href'],
      properties: { href, title: text, description: text, type: text, roles: { type: 'array', items: text } },
    },
    common,
  ],
}

const place = {
  oneOf: [
    {
      type: 'object',
      required: ['geometry', 'bbox'],
      properties: {
        geometry: { $ref: 'https://geojson.org/schema/Geometry.json' },
        bbox: { type: 'array', oneOf: [4, 6].map((size) => ({ minItems: size, maxItems: size })), items: number },
      },
    },
    { type: 'object', required: ['geometry'], properties: { geometry: { type: 'null' }, bbox: { not: {} } } },
  ],
}

const time = {
  anyOf: [
    { required: ['datetime'], properties: { datetime: { not: { type: 'null' } } } },
    { required: ['datetime', 'start_datetime', 'end_datetime'] },
  ],
}

const members = {
  type: 'object',
  required: ['stac_version', 'id', 'links', 'assets', 'properties'],
  properties: {
    stac_version: { type: 'string', const: '1.1.0' },
    stac_extensions: { type: 'array', uniqueItems: true, items: { type: 'string', format: 'iri' } },
    id: filled,
    links: { type: 'array', items: { $ref: '#/definitions/link' } },
    assets: { type: 'object', additionalProperties: { $ref: '#/definitions/asset' } },
    properties: { allOf: [common, time] },
  },
  if: { properties: { links: { contains: { required: ['rel'], properties: { rel: { const: 'collection' } } } } } },
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  then: { required: ['collection'], properties: { collection: filled } },
  else: { properties: { collection: { not: {} } } },
}

/** The schema of Items and all that it refers to below the same address. */
export const core = [
  schema('item', {
    type: 'object',
    allOf: [{ $ref: '#/definitions/core' }],
    definitions: { core: { allOf: [{ $ref: 'https://geojson.org/schema/Feature.json' }, place, members] }, link, asset },
  }),
  schema('common', { type: 'object', allOf: Object.keys(COMMON).map((name) => ({ $ref: `${name}.json` })) }),
  ...Object.entries(COMMON).map(([name, body]) => schema(name, body)),
]

function schema(name, body) {
  return { $schema: 'http://json-schema.org/draft-07/schema#', $id: new URL(`${name}.json`, ITEM).href, ...body }
}

function fields(properties) {
  return { type: 'object', properties }
}
