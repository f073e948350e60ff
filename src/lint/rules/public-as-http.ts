import { own, ownString } from '../../stac/document.ts'
import type { SchemeNode } from '../model.ts'
import { rule } from '../rule.ts'
import { childrenOf } from './unused-scheme.ts'

/** A target with public access has no scheme. */
export const publicAsHttp = rule('public-as-http', 'schemes', {
  'public-as-http': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      public: 'the scheme "{name}" makes clients ask for a password although access is free: leave out auth:refs',
      unused: 'free access needs no scheme, and nothing refers to "{name}": remove it',
    },
    document({ schemes, targets, object, kind }, report) {
      for (const scheme of schemes) {
        if (!isPublic(scheme)) continue
        const { name, pointer, map } = scheme
        // Other documents may refer to it.
        const mayBeUsed = map.summary || kind === 'wrapper' || childrenOf(object).length > 0 || own(object, 'conformsTo') !== undefined
        const isUsed = mayBeUsed || [...targets, ...schemes].some(({ refs }) => refs?.includes(name))
        report(pointer, isUsed ? 'public' : 'unused', { name })
      }
    },
  },
})

function isPublic({ type, name, value }: SchemeNode): boolean {
  return type === 'http' && (NAME.test(name) || TEXT.test(ownString(value, 'description') ?? ''))
}

const NAME = /^(?:none|public|anonymous|free|open|no[-_ ]?auth(?:entication)?)$/i

const TEXT =
  /(?<!\bnot? )\b(?:free(?:ly)? (?:access|available)|open access|anonymous access|access without restriction|public(?:ly)? (?:access|available)|no (?:authentication|login|credentials))/i
