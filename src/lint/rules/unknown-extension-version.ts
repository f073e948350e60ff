import { EXTENSION, NEWEST } from '../../stac/version.ts'
import type { Rule } from '../rule.ts'

/** The declared version is a published one. */
export const unknownExtensionVersion: Rule = {
  meta: {
    id: 'unknown-extension-version',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unknown: 'version {version} is unknown, read as {newest}' },
    fix: 'suggestion',
  },
  document({ declarations, at }, report) {
    for (const { version, url, index } of declarations) {
      if (version) continue
      const written = url.slice(EXTENSION.length).replace(/^v|\/schema\.json$/g, '')
      report(`${at}/stac_extensions/${index}`, 'unknown', { version: written, newest: NEWEST })
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The version is the whole address in stac_extensions. One that was never published cannot be validated by anyone.'
