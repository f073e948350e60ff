import { isObject } from '../../stac/document.ts'
import { valueAt } from '../pointer.ts'
import { rule } from '../rule.ts'
import { typeOf } from './document-shape.ts'

export const schemesMap = rule('schemes-map', 'schemes', {
  'schemes-shape': {
    levels: ['error', 'error', 'error'],
    messages: { shape: '{what} is {actual}: it must be an object, {content}' },
    claim({ place, keyword, pointer, name }, { at, object }, report) {
      if (keyword !== 'type' || (place !== 'schemes' && place !== 'scheme')) return false
      const actual = typeOf(valueAt(object, pointer))
      if (place === 'schemes') report(at + pointer, 'shape', { what: 'auth:schemes', actual, content: 'with a scheme for each name' })
      else report(at + pointer, 'shape', { what: `scheme "${name}"`, actual, content: 'with a "type" such as "http"' })
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
