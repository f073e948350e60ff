import { EXTENSION, NEWEST } from '../../stac/document.ts'
import { lowestVersion } from '../model.ts'
import { rule } from '../rule.ts'

export const extensionVersion = rule('extension-version', 'placement', {
  'unknown-extension-version': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      unknown: 'version {version} of the authentication extension is unknown and read as {newest}: declare a published version',
    },
    fix: 'suggestion',
    document({ declarations, at }, report) {
      for (const { version, url, index } of declarations) {
        if (version || !url.startsWith(EXTENSION)) continue
        const written = url.slice(EXTENSION.length).replace(/^v|\/schema\.json$/g, '')
        report(`${at}/stac_extensions/${index}`, 'unknown', { version: written, newest: NEWEST })
      }
    },
  },
  'extension-url': {
    levels: ['warn', 'error', 'error'],
    messages: { other: 'stac_extensions names the extension by a URL that clients do not recognize: use its published URL' },
    fix: 'suggestion',
    document({ declarations, object, at }, report) {
      for (const { version, url, index } of declarations) {
        const near = `${EXTENSION}v${version ?? lowestVersion(object)}/schema.json`
        if (url !== near && (version || !url.startsWith(EXTENSION))) report(`${at}/stac_extensions/${index}`, 'other', { near })
      }
    },
  },
  'multiple-extension-versions': {
    levels: ['warn', 'error', 'off'],
    messages: { twice: 'the authentication extension is declared twice ({first}, {other}): keep one' },
    fix: 'suggestion',
    document({ declarations: [first, ...others], at }, report) {
      for (const { url, index, version } of others) {
        if (first && url !== first.url) {
          report(`${at}/stac_extensions/${index}`, 'twice', { first: first.version ?? first.url, other: version ?? url })
        }
      }
    },
  },
})
