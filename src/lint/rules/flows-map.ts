import { isObject } from '../../stac/document.ts'
import { isFlat } from '../read-model.ts'
import { rule } from '../rule.ts'

export const flowsMap = rule('flows-map', 'flows', {
  'flows-shape': {
    levels: ['error', 'error', 'error'],
    messages: { shape: 'flows must map flow names to flows, such as { "clientCredentials": { … } }' },
    fix: 'suggestion',
    claim({ place, keyword, pointer }, { at }, report) {
      if (place !== 'flows' || keyword !== 'type') return false
      report(at + pointer, 'shape', { fix: false })
      return true
    },
    scheme({ flows, pointer }, report) {
      if (isObject(flows) && isFlat(flows)) report(`${pointer}/flows`, 'shape')
    },
  },
  'flows-empty': {
    levels: ['error', 'error', 'off'],
    messages: { empty: 'flows is empty: describe at least one flow' },
    scheme({ flows, pointer }, report) {
      if (isObject(flows) && Object.keys(flows).length === 0) report(`${pointer}/flows`, 'empty')
    },
  },
})
