import { isRegisteredScheme, REGISTERED_SCHEMES } from '../../http/challenge.ts'
import { isToken } from '../../http/headers.ts'
import { ownString } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { rule } from '../rule.ts'

export const httpSchemeName = rule('http-scheme-name', 'schemes', {
  'http-scheme-unregistered': {
    levels: ['warn', 'warn', 'off'],
    messages: { unregistered: '"{scheme}" is not a registered HTTP authentication scheme, so clients may not support it' },
    fix: 'suggestion',
    scheme({ value, type, pointer }, report) {
      const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
      if (!scheme || !isToken(scheme) || isRegisteredScheme(scheme)) return
      report(`${pointer}/scheme`, 'unregistered', { scheme, near: nearMiss(scheme, REGISTERED_SCHEMES) })
    },
  },
  'http-scheme-case': {
    levels: ['info', 'info', 'off'],
    messages: { case: 'HTTP authentication schemes are written in lower case: write "{lower}"' },
    fix: 'safe',
    scheme({ value, type, pointer }, report) {
      const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
      const lower = scheme?.toLowerCase()
      if (lower !== undefined && lower !== scheme && isRegisteredScheme(lower)) report(`${pointer}/scheme`, 'case', { lower })
    },
  },
})
