import { valueAt } from '../pointer.ts'
import { rule } from '../rule.ts'

export const schemesSummary = rule('schemes-summary', 'placement', {
  'summaries-shape': {
    levels: ['error', 'error', 'error'],
    messages: { shape: 'a summary of auth:schemes must be an array of maps of schemes, or a JSON Schema' },
    claim({ pointer, keyword }, { at, object, version }, report) {
      if (keyword !== 'type' || !/^\/summaries\/auth:schemes(?:\/\d+)?$/.test(pointer)) return false
      // The example of 1.0.0 lists names, and its schema allows that.
      const isName = version === '1.0.0' && typeof valueAt(object, pointer) === 'string' && pointer !== '/summaries/auth:schemes'
      if (!isName) report(at + pointer, 'shape')
      return true
    },
  },
  'schemes-in-summaries': {
    levels: ['info', 'info', 'off'],
    messages: { only: 'auth:schemes is in the summaries only: it describes Items, not the Collection itself' },
    document({ maps, map, at }, report) {
      if (map === undefined && maps.length > 0) report(`${at}/summaries/auth:schemes`, 'only')
    },
  },
})
