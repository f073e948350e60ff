import { own } from '../../stac/json.ts'
import { keywordsIn } from '../draft-07.ts'
import type { Rule } from '../rule.ts'

/** The schema of a parameter stands alone. */
export const parameterSchemaUnsafe: Rule = {
  meta: {
    id: 'parameter-schema-unsafe',
    section: 'flows',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { refused: '{keyword} is refused by clients' },
  },
  parameter({ value, pointer }, report) {
    for (const { keyword, pointer: inner } of keywordsIn(own(value, 'schema'))) {
      if (keyword === '$ref' || keyword === '$id') report(`${pointer}/schema${inner}`, 'refused', { keyword })
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Clients do not load schemas that a catalog names, nor let it name its own: they refuse the parameter.'
