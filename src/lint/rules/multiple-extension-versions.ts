import type { Rule } from '../rule.ts'

/** One version of the extension is declared. */
export const multipleExtensionVersions: Rule = {
  meta: {
    id: 'multiple-extension-versions',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { twice: 'the extension is declared twice ({first}, {other})' },
    fix: 'suggestion',
  },
  document({ declarations: [first, ...others], at }, report) {
    for (const { url, index, version } of others) {
      if (first && url !== first.url) {
        report(`${at}/stac_extensions/${index}`, 'twice', { first: first.version ?? first.url, other: version ?? url })
      }
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Two versions contradict each other on the same fields. It happens when a proxy adds its own declaration to older data.'
