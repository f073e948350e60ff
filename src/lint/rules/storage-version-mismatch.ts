import { own } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** `storage:schemes` and `storage:refs` came with version 2 of the storage extension. */
export const storageVersionMismatch: Rule = {
  meta: {
    id: 'storage-version-mismatch',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { mismatch: 'storage:schemes needs storage v2' },
    fix: 'suggestion',
  },
  document({ object, targets, at }, report) {
    const list = own(object, 'stac_extensions')
    const index = Array.isArray(list) ? list.findIndex((url) => typeof url === 'string' && OLD.test(url)) : -1
    if (index < 0) return
    const schemes = own(object, 'storage:schemes') ?? own(own(object, 'properties'), 'storage:schemes')
    if (schemes !== undefined || targets.some((target) => Object.hasOwn(target.object, 'storage:refs'))) {
      report(`${at}/stac_extensions/${index}`, 'mismatch')
    }
  },
}

const OLD = /^https:\/\/stac-extensions\.github\.io\/storage\/v1\./

/** Why the rule exists, for its page. */
export const docs = 'Version 1 of the storage extension has fields on the asset itself; clients of it look for endpoint and region there.'
