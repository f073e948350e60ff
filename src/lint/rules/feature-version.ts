import { own } from '../../stac/document.ts'
import { RETIRED_TYPES } from '../model.ts'
import { rule } from '../rule.ts'

export const featureVersion = rule('feature-version', 'placement', {
  'version-mismatch': {
    levels: ['warn', 'error', 'off'],
    messages: { mismatch: '{feature} needs version {need} of the authentication extension, but the document declares {version}' },
    fix: 'suggestion',
    scheme({ value, type, pointer, map: { declared, version } }, report) {
      if (!declared) return
      if (version !== '1.2.0' && own(value, 'auth:refs') !== undefined) {
        report(`${pointer}/auth:refs`, 'mismatch', { feature: 'auth:refs on a scheme', need: '1.2.0', version })
      }
      if (version !== '1.0.0' && (RETIRED_TYPES as readonly (string | undefined)[]).includes(type)) {
        report(`${pointer}/type`, 'mismatch', { feature: `type ${type}`, need: '1.0.0', version, fix: false })
      }
    },
    flow({ name, value, pointer, scheme }, report) {
      const { declared, version } = scheme.map
      if (!declared || version === '1.2.0' || scheme.type !== 'oauth2') return
      if (name === 'tokenExchange') report(pointer, 'mismatch', { feature: name, need: '1.2.0', version })
      if (own(value, 'subjectTokenType') !== undefined) {
        report(`${pointer}/subjectTokenType`, 'mismatch', { feature: 'subjectTokenType', need: '1.2.0', version })
      }
    },
  },
  'storage-version-mismatch': {
    levels: ['warn', 'warn', 'off'],
    messages: { mismatch: 'storage:schemes and storage:refs need version 2 of the storage extension, but the document declares version 1' },
    fix: 'suggestion',
    document({ object, targets, at }, report) {
      const list = own(object, 'stac_extensions')
      const index = Array.isArray(list) ? list.findIndex((url) => typeof url === 'string' && isOldStorage(url)) : -1
      if (index < 0) return
      const schemes = own(object, 'storage:schemes') ?? own(own(object, 'properties'), 'storage:schemes')
      if (schemes !== undefined || targets.some((target) => Object.hasOwn(target.object, 'storage:refs'))) {
        report(`${at}/stac_extensions/${index}`, 'mismatch')
      }
    },
  },
})

const SITE = 'https://stac-extensions.github.io/'

/** The name is compared first: all extensions have the same site. */
function isOldStorage(url: string): boolean {
  return url.startsWith('storage/v1.', SITE.length) && url.startsWith(SITE)
}
