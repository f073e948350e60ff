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
    levels: ['info', 'info', 'error'],
    messages: { only: 'auth:schemes is in the summaries only: it describes Items, not the Collection itself' },
    document({ maps, map, at, preset, version }, report) {
      // The published schemas demand the Collection's own schemes from 1.1.0 on.
      if (preset === 'schema' && version === '1.0.0') return
      if (map === undefined && maps.length > 0) report(`${at}/summaries/auth:schemes`, 'only')
    },
  },
})
