import { own } from '../../stac/document.ts'
import { RETIRED_TYPES } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** A document uses only features of the version that it declares. */
const versionMismatch: RuleCase = {
  meta: {
    code: 'version-mismatch',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { mismatch: '{feature} needs version {need} of the authentication extension, but the document declares {version}' },
    fix: 'suggestion',
  },
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
}

/** `storage:schemes` and `storage:refs` were added in version 2 of the storage extension. */
const storageVersionMismatch: RuleCase = {
  meta: {
    code: 'storage-version-mismatch',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { mismatch: 'storage:schemes and storage:refs need version 2 of the storage extension, but the document declares version 1' },
    fix: 'suggestion',
  },
  document({ object, targets, at }, report) {
    const list = own(object, 'stac_extensions')
    const index = Array.isArray(list) ? list.findIndex((url) => typeof url === 'string' && isOldStorage(url)) : -1
    if (index < 0) return
    const schemes = own(object, 'storage:schemes') ?? own(own(object, 'properties'), 'storage:schemes')
    if (schemes !== undefined || targets.some((target) => Object.hasOwn(target.object, 'storage:refs'))) {
      report(`${at}/stac_extensions/${index}`, 'mismatch')
    }
  },
}

const SITE = 'https://stac-extensions.github.io/'

/** The name is compared first: all extensions have the same site. */
function isOldStorage(url: string): boolean {
  return url.startsWith('storage/v1.', SITE.length) && url.startsWith(SITE)
}

export const featureVersion: Rule = {
  meta: { id: 'feature-version', section: 'placement' },
  cases: [versionMismatch, storageVersionMismatch],
}

export const docs: RuleDocs = {
  'version-mismatch': {
    part: 'fields',
    why: 'A client that knows only the declared version ignores the field or type, so it cannot authenticate in the way that the document describes.',
    repair: [
      'Declare the version that the message names, if your users have clients for it.',
      'Otherwise describe the scheme with the fields of the declared version.',
    ],
  },
  'storage-version-mismatch': {
    part: 'fields',
    why: 'Clients of version 1 of the storage extension look for platform and region on the asset itself. They ignore storage:schemes and miss the endpoint of the bucket.',
    repair: [
      'Declare https://stac-extensions.github.io/storage/v2.0.0/schema.json instead of version 1.',
      'Or write storage:platform and storage:region on the asset, as version 1 has them.',
    ],
  },
}
