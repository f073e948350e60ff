import { own } from '../../stac/document.ts'
import type { TargetNode } from '../model.ts'
import { hostOf } from '../model.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** An object store outside of AWS is described by the storage extension. */
export const s3WithoutStorage: Rule = {
  meta: { id: 's3-without-storage', section: 'references' },
  cases: [
    {
      meta: {
        code: 's3-without-storage',
        severity: { recommended: 'info', strict: 'info', schema: 'off' },
        messages: { unknown: 'endpoint and region are unknown: describe them with the storage extension' },
      },
      protectedTarget(target, report) {
        if (!target.types.includes('s3') || hasStorage(target)) return
        if (!/\.amazonaws\.com(?:\.cn)?$/.test(hostOf(target.href))) report(`${target.pointer}/auth:refs`, 'unknown')
      },
    },
  ],
}

function hasStorage({ object, asset, document }: TargetNode): boolean {
  return describes(object) || describes(asset?.object) || describes(own(document.object, 'properties'))
}

const FIELDS = ['storage:refs', 'storage:platform', 'storage:region']

function describes(place: unknown): boolean {
  return FIELDS.some((field) => own(place, field) !== undefined)
}

export const docs: RuleDocs = {
  's3-without-storage': {
    part: 'scheme-types',
    why: 'A signature needs the region and endpoint of the bucket. Without them a client has to assume AWS, and a request for a bucket of another provider fails.',
    repair: ['Declare the storage extension.', 'Add storage:schemes with platform and region, and storage:refs to the asset.'],
  },
}
