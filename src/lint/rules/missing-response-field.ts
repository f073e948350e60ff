import { own } from '../../stac/document.ts'
import { rule } from '../rule.ts'

/** The flow names the member of the response that contains the signed URL. */
export const missingResponseField = rule('missing-response-field', 'flows', {
  'missing-response-field': {
    levels: ['info', 'warn', 'off'],
    messages: {
      missing: 'the flow has no responseField, so clients must guess which member of the response is the signed URL: name it',
    },
    flow({ value, pointer, scheme }, report) {
      if (scheme.type === 'signedUrl' && own(value, 'responseField') === undefined) report(pointer, 'missing')
    },
  },
})
