import { ownString } from '../../stac/document.ts'
import { rule } from '../rule.ts'

/** A target with public access has no scheme. */
export const publicAsHttp = rule('public-as-http', 'schemes', {
  'public-as-http': {
    levels: ['warn', 'warn', 'off'],
    messages: { public: 'the scheme "{name}" makes clients ask for a password although access is free: leave out auth:refs' },
    scheme({ name, value, type, pointer }, report) {
      if (type === 'http' && (NAME.test(name) || TEXT.test(ownString(value, 'description') ?? ''))) report(pointer, 'public', { name })
    },
  },
})

const NAME = /^(?:none|public|anonymous|free|open|no[-_ ]?auth(?:entication)?)$/i

const TEXT =
  /(?<!\bnot? )\b(?:free(?:ly)? (?:access|available)|open access|anonymous access|access without restriction|public(?:ly)? (?:access|available)|no (?:authentication|login|credentials))/i
