/** The authentication extension 1.1 for Items, to the extent of the schema that is published for it. */
const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const TYPES = ['http', 's3', 'signedUrl', 'oauth2', 'apiKey', 'openIdConnect']

const text = { type: 'string' }
const uri = { type: 'string', format: 'uri' }
const fields = { $ref: '#/definitions/fields' }
const objects = { type: 'object', additionalProperties: fields }
const links = { type: 'array', items: fields }

/** Its `$id` is the address that Items declare. */
export const authentication = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: EXTENSION,
  type: 'object',
  required: ['stac_extensions'],
  properties: { stac_extensions: { type: 'array', contains: { const: EXTENSION } } },
  oneOf: [
    kind('Feature', { properties: { allOf: [{ required: ['auth:schemes'] }, fields] }, assets: objects, links }, ['properties', 'assets']),
    kind('Collection', { assets: objects, item_assets: objects, links }),
    kind('Catalog', { links }),
  ],
  definitions: {
    fields: {
      type: 'object',
      properties: {
        'auth:schemes': { type: 'object', additionalProperties: { $ref: '#/definitions/scheme' } },
        'auth:refs': { type: 'array', items: text },
      },
      patternProperties: { '^(?!auth:)': {} },
      additionalProperties: false,
    },
    scheme: {
      type: 'object',
      required: ['type'],
      properties: { type: { type: 'string', examples: TYPES }, description: text },
      allOf: [
        only('http', { scheme: text }),
        only('apiKey', { name: text, in: { type: 'string', enum: ['query', 'header', 'cookie'] } }),
        only('openIdConnect', { openIdConnectUrl: uri }),
        only('oauth2', { flows: mapOf('oauth2_flow') }),
        only('signedUrl', { flows: mapOf('signed_flow') }),
      ],
    },
    oauth2_flow: {
      type: 'object',
      required: ['scopes'],
      properties: { authorizationUrl: uri, tokenUrl: uri, refreshUrl: uri, scopes: { type: 'object', additionalProperties: text } },
    },
    signed_flow: {
      type: 'object',
      required: ['method', 'authorizationApi'],
      properties: { method: text, authorizationApi: uri, responseField: text, parameters: mapOf('parameter') },
    },
    parameter: {
      type: 'object',
      required: ['in', 'required'],
      properties: {
        in: { type: 'string', enum: ['query', 'header', 'body'] },
        required: { type: 'boolean' },
        description: text,
        schema: { $ref: 'http://json-schema.org/draft-07/schema#' },
      },
    },
  },
}

function kind(type, members, required = []) {
  return { type: 'object', required: ['type', ...required], properties: { type: { const: type }, ...members } }
}

function only(type, members) {
  return {
    if: { properties: { type: { const: type } } },
    // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
    then: { required: Object.keys(members), properties: members },
  }
}

function mapOf(definition) {
  return { type: 'object', additionalProperties: { $ref: `#/definitions/${definition}` } }
}
