/**
 * Features of GeoJSON (RFC 7946) as geojson.org publishes their schema: every type of geometry written out in one file, so that a
 * validator tries all of them on each geometry.
 */
const number = { type: 'number' }
const bbox = { type: 'array', minItems: 4, items: number }

const position = listOf(number, 2)
const line = listOf(position, 2)
const ring = listOf(position, 4)
const shapes = [
  geometry('Point', position),
  geometry('LineString', line),
  geometry('Polygon', listOf(ring)),
  geometry('MultiPoint', listOf(position)),
  geometry('MultiLineString', listOf(line)),
  geometry('MultiPolygon', listOf(listOf(ring))),
]
const geometries = [...shapes, named('GeometryCollection', { geometries: listOf({ oneOf: shapes }) })]

/** The two schemas that the schema of Items refers to. */
export const geojson = [
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://geojson.org/schema/Feature.json',
    type: 'object',
    required: ['type', 'properties', 'geometry'],
    properties: {
      type: { type: 'string', enum: ['Feature'] },
      properties: { oneOf: [{ type: 'null' }, { type: 'object' }] },
      geometry: { oneOf: [{ type: 'null' }, ...geometries] },
      bbox,
    },
  },
  { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'https://geojson.org/schema/Geometry.json', oneOf: geometries },
]

function geometry(type, coordinates) {
  return named(type, { coordinates })
}

function named(type, members) {
  return {
    type: 'object',
    required: ['type', ...Object.keys(members)],
    properties: { type: { type: 'string', enum: [type] }, ...members, bbox },
  }
}

function listOf(items, minItems) {
  return { type: 'array', ...(minItems && { minItems }), items }
}
