/**
 * Schemas of extensions, built as their authors build them from one template: for Items or for Collections, the declaration is
 * required, and in the properties, in every asset and where the version knows bands in every band the fields of the prefix are checked
 * and unknown ones refused.
 */
import { authentication } from './authentication.mjs'

const text = { type: 'string' }
const filled = { type: 'string', minLength: 1 }
const number = { type: 'number' }
const positive = { type: 'integer', minimum: 1 }
const size = { type: 'integer', minimum: 0 }
const bbox = sized('number', 4, 6)
const angle = (minimum, maximum) => ({ type: 'number', minimum, maximum })
const angles = (minimum, maximum) => ({ type: 'array', minItems: 1, items: angle(minimum, maximum) })
const colours = ['coastal', 'blue', 'green', 'green05', 'red', 'rededge', 'rededge071', 'rededge075', 'rededge078', 'yellow', 'pan']
const infrared = ['nir', 'nir08', 'nir09', 'cirrus', 'swir16', 'swir22', 'lwir', 'lwir11', 'lwir12']

const views = {
  'view:off_nadir': angle(0, 90),
  'view:incidence_angle': angle(0, 90),
  'view:azimuth': angle(0, 360),
  'view:sun_azimuth': angle(0, 360),
  'view:sun_elevation': angle(-90, 90),
  'view:moon_azimuth': angles(0, 360),
  'view:moon_elevation': angles(-90, 90),
}

const orbits = {
  'sat:platform_international_designator': text,
  'sat:orbit_state': { type: 'string', enum: ['ascending', 'descending', 'geostationary'] },
  'sat:absolute_orbit': positive,
  'sat:relative_orbit': positive,
  'sat:anx_datetime': { type: 'string', format: 'date-time' },
}

/** The schemas of all extensions that an Item of the benchmarks declares. */
export const extensions = [
  authentication,
  extension('eo/v2.0.0', 'eo', true, {
    'eo:cloud_cover': angle(0, 100),
    'eo:snow_cover': angle(0, 100),
    'eo:common_name': { type: 'string', enum: [...colours, ...infrared] },
    'eo:center_wavelength': { type: 'number', exclusiveMinimum: 0 },
    'eo:full_width_half_max': { type: 'number', exclusiveMinimum: 0 },
    'eo:solar_illumination': { type: 'number', minimum: 0 },
  }),
  extension('projection/v2.0.0', 'proj', true, {
    'proj:code': { type: ['string', 'null'], minLength: 1 },
    'proj:wkt2': { type: ['string', 'null'] },
    // No Item of ours has one, so the long schema of PROJJSON would only be loaded.
    'proj:projjson': { type: ['object', 'null'] },
    'proj:geometry': { $ref: 'https://geojson.org/schema/Geometry.json' },
    'proj:bbox': bbox,
    'proj:centroid': { type: 'object', required: ['lat', 'lon'], properties: { lat: angle(-90, 90), lon: angle(-180, 180) } },
    'proj:shape': sized('integer', 2),
    'proj:transform': sized('number', 6, 9),
  }),
  extension('raster/v2.0.0', 'raster', true, {
    'raster:bits_per_sample': positive,
    'raster:sampling': { type: 'string', enum: ['area', 'point'] },
    'raster:scale': number,
    'raster:offset': number,
    'raster:spatial_resolution': number,
  }),
  extension('view/v1.0.0', 'view', false, views, anyOf(views)),
  extension('sat/v1.0.0', 'sat', false, orbits, anyOf(orbits)),
  extension(
    'grid/v1.1.0',
    'grid',
    false,
    { 'grid:code': { type: 'string', pattern: '^[A-Z0-9]+-[-_.A-Za-z0-9]+$' } },
    anyOf(['grid:code']),
  ),
  extension('file/v2.1.0', 'file', false, {
    'file:byte_order': { type: 'string', enum: ['big-endian', 'little-endian'] },
    'file:checksum': { type: 'string', pattern: '^[a-f0-9]+$' },
    'file:header_size': size,
    'file:size': size,
    'file:local_path': { type: 'string', pattern: '^(?!-)[^/]+(?<!-)(/(?!-)[^/]+(?<!-))*$' },
  }),
  extension('processing/v1.2.0', 'processing', false, {
    'processing:expression': { type: 'object', required: ['format', 'expression'], properties: { format: text } },
    'processing:lineage': text,
    'processing:level': text,
    'processing:facility': text,
    'processing:version': text,
    'processing:datetime': { type: 'string', format: 'date-time' },
    'processing:software': { type: 'object', additionalProperties: text },
  }),
  extension('product/v0.1.0', 'product', false, {
    'product:type': filled,
    'product:timeliness': { type: 'string', format: 'duration' },
    'product:timeliness_category': filled,
    'product:acquisition_type': { type: 'string', enum: ['nominal', 'calibration', 'other'] },
  }),
  extension('storage/v2.0.0', 'storage', false, {
    'storage:refs': { type: 'array', uniqueItems: true, items: filled },
    'storage:schemes': {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['type', 'platform'],
        properties: {
          type: filled,
          platform: { type: 'string', format: 'uri-template' },
          region: text,
          requester_pays: { type: 'boolean' },
        },
      },
    },
  }),
  alternates(),
]

function extension(path, prefix, inBands, properties, required) {
  const $id = `https://stac-extensions.github.io/${path}/schema.json`
  const fields = { $ref: '#/definitions/fields' }
  const bands = { type: 'object', properties: { bands: { type: 'array', items: fields } } }
  const objects = { type: 'object', additionalProperties: inBands ? { allOf: [fields, bands] } : fields }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id,
    ...declared($id),
    oneOf: [
      kind('Feature', { properties: required ? { allOf: [required, fields] } : fields, assets: objects }, ['properties', 'assets']),
      kind('Collection', { assets: objects, item_assets: objects }),
    ],
    definitions: {
      fields: { type: 'object', properties, patternProperties: { [`^(?!${prefix}:)`]: {} }, additionalProperties: false },
    },
  }
}

/** As published, it looks in Items only at what is called `alternate` among the assets themselves. */
function alternates() {
  const $id = 'https://stac-extensions.github.io/alternate-assets/v1.2.0/schema.json'
  const href = { type: 'string', format: 'iri-reference', minLength: 1 }
  const alternate = { type: 'object', required: ['href'], properties: { href, 'alternate:name': filled, title: text, description: text } }
  const fields = { 'alternate:name': filled, alternate: { type: 'object', minProperties: 1, additionalProperties: alternate } }
  const assets = { type: 'object', additionalProperties: { type: 'object', properties: fields } }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id,
    ...declared($id),
    oneOf: [kind('Feature', { assets: { type: 'object', properties: fields } }, ['assets']), kind('Collection', { assets })],
  }
}

function declared(address) {
  return {
    type: 'object',
    required: ['stac_extensions'],
    properties: { stac_extensions: { type: 'array', contains: { const: address } } },
  }
}

function kind(type, members, required = []) {
  return { type: 'object', required: ['type', ...required], properties: { type: { const: type }, ...members } }
}

function anyOf(fields) {
  const names = Array.isArray(fields) ? fields : Object.keys(fields)
  return { anyOf: names.map((name) => ({ required: [name] })) }
}

function sized(type, ...sizes) {
  return { type: 'array', oneOf: sizes.map((length) => ({ minItems: length, maxItems: length })), items: { type } }
}
