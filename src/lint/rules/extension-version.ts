import { EXTENSION, NEWEST } from '../../stac/document.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** The declared version is a published one. */
const unknownExtensionVersion: RuleCase = {
  meta: {
    code: 'unknown-extension-version',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: {
      unknown: 'version {version} of the authentication extension is unknown and read as {newest}: declare a published version',
    },
    fix: 'suggestion',
  },
  document({ declarations, at }, report) {
    for (const { version, url, index } of declarations) {
      if (version || !url.startsWith(EXTENSION)) continue
      const written = url.slice(EXTENSION.length).replace(/^v|\/schema\.json$/g, '')
      report(`${at}/stac_extensions/${index}`, 'unknown', { version: written, newest: NEWEST })
    }
  },
}

/** The extension is declared by its published URL. */
const extensionUrl: RuleCase = {
  meta: {
    code: 'extension-url',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { other: 'stac_extensions names the extension by a URL that clients do not recognize: use its published URL' },
    fix: 'suggestion',
  },
  document({ declarations, at }, report) {
    for (const { version, url, index } of declarations) {
      const near = `${EXTENSION}v${version ?? NEWEST}/schema.json`
      if (url !== near && (version || !url.startsWith(EXTENSION))) report(`${at}/stac_extensions/${index}`, 'other', { near })
    }
  },
}

/** One version of the extension is declared. */
const multipleExtensionVersions: RuleCase = {
  meta: {
    code: 'multiple-extension-versions',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { twice: 'the authentication extension is declared twice ({first}, {other}): keep one' },
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

export const extensionVersion: Rule = {
  meta: { id: 'extension-version', section: 'placement' },
  cases: [unknownExtensionVersion, extensionUrl, multipleExtensionVersions],
}

export const docs: RuleDocs = {
  'unknown-extension-version': {
    part: 'fields',
    why: 'Validators load the schema at this URL. A version that was never published cannot be loaded, and clients have to guess which fields it has.',
    repair: [
      'Declare one of v1.0.0, v1.1.0 and v1.2.0, as https://stac-extensions.github.io/authentication/v1.1.0/schema.json.',
      'Run lint again: the rules depend on the version.',
    ],
  },
  'extension-url': {
    part: 'fields',
    why: 'Clients and validators compare the URL in stac_extensions as a text. With http:, with # at the end, or as a file in the repository, they do not recognize the extension and skip its fields.',
    repair: ['Write https://stac-extensions.github.io/authentication/v1.1.0/schema.json, with your version.'],
  },
  'multiple-extension-versions': {
    part: 'fields',
    why: 'The versions contradict each other in the same fields, and clients differ in the one they use. This happens when a proxy adds its declaration to older data.',
    repair: [
      'Keep the highest version whose fields the document uses, and remove the others.',
      'Let the proxy replace the declaration instead of adding one.',
    ],
  },
}
