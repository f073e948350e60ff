import type { Rule } from '../rule.ts'

/** Schemes in summaries serve the Items, not the Collection. */
export const schemesInSummaries: Rule = {
  meta: {
    id: 'schemes-in-summaries',
    section: 'placement',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { only: 'these schemes describe Items; the Collection itself has none' },
  },
  document({ maps, map, at }, report) {
    if (map === undefined && maps.length > 0) report(`${at}/summaries/auth:schemes`, 'only')
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'It is legal, and right when only the Items are protected. Links and assets of the Collection cannot refer to these schemes.'
