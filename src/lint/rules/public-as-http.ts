import { ownString } from '../../stac/document.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** A target with public access has no scheme. */
export const publicAsHttp: Rule = {
  meta: { id: 'public-as-http', section: 'schemes' },
  cases: [
    {
      meta: {
        code: 'public-as-http',
        severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
        messages: { public: 'the scheme "{name}" makes clients ask for a password although access is free: leave out auth:refs' },
      },
      scheme({ name, value, type, pointer }, report) {
        if (type === 'http' && (NAME.test(name) || TEXT.test(ownString(value, 'description') ?? ''))) report(pointer, 'public', { name })
      },
    },
  ],
}

const NAME = /^(?:none|public|anonymous|free|open|no[-_ ]?auth(?:entication)?)$/i
const TEXT =
  /(?<!\bnot? )\b(?:free(?:ly)? (?:access|available)|open access|anonymous access|access without restriction|public(?:ly)? (?:access|available)|no (?:authentication|login|credentials))/i

export const docs: RuleDocs = {
  'public-as-http': {
    part: 'scheme-types',
    why: 'There is no type for public access. A scheme of type http makes clients ask for a user name and a password that do not exist.',
    repair: ['Remove the scheme.', 'Remove its name from auth:refs; write [] where other schemes were listed for an alternate asset.'],
  },
}
