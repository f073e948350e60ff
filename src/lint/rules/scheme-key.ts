import { REGISTERED_SCHEMES } from '../../http/challenge.ts'
import { SCHEME_TYPES } from '../../stac/scheme.ts'
import { rule } from '../rule.ts'

export const schemeKey = rule('scheme-key', 'schemes', {
  'scheme-name': {
    levels: ['warn', 'warn', 'off'],
    messages: { bad: '"{name}" is a bad name for a scheme: use letters, digits, hyphens and underscores' },
    scheme({ name, pointer }, report) {
      if (BAD.test(name)) report(pointer, 'bad', { name })
    },
  },
  'scheme-name-type': {
    levels: ['info', 'info', 'off'],
    messages: { differs: 'the scheme "{name}" is of type {type}, which its name does not suggest: use another name' },
    scheme({ name, type, pointer }, report) {
      const meant = TYPES.get(name.toLowerCase())
      if (!type || !meant || meant === type || (name.toLowerCase() === 'oauth' && type === 'oauth2')) return
      report(pointer, 'differs', { name, type })
    },
  },
})

const BAD = /^$|^\s|\s$|[\0-\x1f\x7f]|^(?:__proto__|constructor|prototype)$/

const TYPES = new Map<string, string>([
  ...REGISTERED_SCHEMES.map((scheme) => [scheme, 'http'] as const),
  ...SCHEME_TYPES.map((type) => [type.toLowerCase(), type] as const),
])
