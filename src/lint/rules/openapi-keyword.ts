import { own } from '../../stac/json.ts'
import { keywordsIn } from '../draft-07.ts'
import type { Rule } from '../rule.ts'

/** The schema of a parameter uses keywords of JSON Schema. */
export const openapiKeyword: Rule = {
  meta: {
    id: 'openapi-keyword',
    section: 'flows',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { meaningless: '{keyword} has no meaning in JSON Schema' },
  },
  parameter({ value, pointer, flow }, report) {
    if (flow.scheme.map.version === '1.0.0') return
    for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'))) {
      if (OPENAPI.has(keyword)) report(`${pointer}/schema${inner}`, 'meaningless', { keyword })
    }
  },
}

const OPENAPI = new Set(['nullable', 'example', 'discriminator', 'xml', 'externalDocs', 'deprecated'])

/** Why the rule exists, for its page. */
export const docs = 'Version 1.0.0 had OpenAPI Schema Objects here; from 1.1.0 on their own keywords are ignored.'
