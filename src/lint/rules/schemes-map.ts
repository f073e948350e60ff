import { isObject } from '../../stac/document.ts'
import { rule } from '../rule.ts'

export const schemesMap = rule('schemes-map', 'schemes', {
  'schemes-shape': {
    levels: ['error', 'error', 'error'],
    messages: { shape: '{what} must be an object' },
    claim({ place, keyword, pointer, name }, { at }, report) {
      if (keyword !== 'type' || (place !== 'schemes' && place !== 'scheme')) return false
      report(at + pointer, 'shape', { what: place === 'schemes' ? 'auth:schemes' : `scheme "${name}"` })
      return true
    },
  },
  'schemes-empty': {
    levels: ['warn', 'warn', 'off'],
    messages: { empty: 'auth:schemes is empty: define a scheme, or leave it out' },
    document({ map }, report) {
      if (map && isObject(map.value) && Object.keys(map.value).length === 0) report(map.pointer, 'empty')
    },
  },
})
