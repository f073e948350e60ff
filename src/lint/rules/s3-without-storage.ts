import { own } from '../../stac/document.ts'
import type { TargetNode } from '../model.ts'
import { hostOf } from '../model.ts'
import { rule } from '../rule.ts'
import { misspelt } from './dangling-storage-ref.ts'

/** An object store outside of AWS is described by the storage extension. */
export const s3WithoutStorage = rule('s3-without-storage', 'references', {
  's3-without-storage': {
    levels: ['info', 'info', 'off'],
    messages: { unknown: 'endpoint and region are unknown: describe them with the storage extension' },
    protectedTarget(target, report) {
      if (!target.types.includes('s3') || hasStorage(target)) return
      if (!/\.amazonaws\.com(?:\.cn)?$/.test(hostOf(target.href))) report(`${target.pointer}/auth:refs`, 'unknown')
    },
  },
})

function hasStorage({ object, asset, document }: TargetNode): boolean {
  return (
    describes(object) ||
    describes(asset?.object) ||
    describes(own(document.object, 'properties')) ||
    misspelt(object, 'storage:refs') !== undefined
  )
}

const FIELDS = ['storage:refs', 'storage:platform', 'storage:region']

function describes(place: unknown): boolean {
  return FIELDS.some((field) => own(place, field) !== undefined)
}
