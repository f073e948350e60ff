import { own } from '../../stac/document.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** The flow names the member of the response that contains the signed URL. */
export const missingResponseField: Rule = {
  meta: { id: 'missing-response-field', section: 'flows' },
  cases: [
    {
      meta: {
        code: 'missing-response-field',
        severity: { recommended: 'info', strict: 'warn', schema: 'off' },
        messages: {
          missing: 'the flow has no responseField, so clients must guess which member of the response is the signed URL: name it',
        },
      },
      flow({ value, pointer, scheme }, report) {
        if (scheme.type === 'signedUrl' && own(value, 'responseField') === undefined) report(pointer, 'missing')
      },
    },
  ],
}

export const docs: RuleDocs = {
  'missing-response-field': {
    part: 'signed-url-object',
    why: 'Without responseField a client tries a few usual names and fails if the signed URL is in another member of the response.',
    repair: [
      'Call the signing API once and look at its response.',
      'Write the name of the member that has the URL, such as "responseField": "signed_url".',
    ],
  },
}
