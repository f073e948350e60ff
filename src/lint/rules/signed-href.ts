import { ownString } from '../../stac/document.ts'
import type { Rule, RuleDocs } from '../rule.ts'
import { secretParameter } from '../secrets.ts'

/** A published URL has no signature and no token. */
export const signedHref: Rule = {
  meta: { id: 'signed-href', section: 'references' },
  cases: [
    {
      meta: {
        code: 'signed-href',
        severity: { recommended: 'warn', strict: 'error', schema: 'off' },
        messages: { signed: 'href carries a signature or token that everyone can use: write the URL without it' },
      },
      target(target, report) {
        const { href, kind, object } = target
        if (href === undefined || !href.includes('?')) return
        const parameter = secretParameter(href)
        // Paging links use the same name for the position in a listing.
        const paging =
          kind === 'link' && parameter === 'token' && /^(?:next|prev(?:ious)?|first|last)$/.test(ownString(object, 'rel') ?? '')
        if (parameter && !paging) report(`${target.pointer}/href`, 'signed')
      },
    },
  ],
}

export const docs: RuleDocs = {
  'signed-href': {
    part: 'fields',
    why: 'Everybody who reads the document can use the signature or token in the URL, and the URL stops working when it expires.',
    repair: [
      'Write the URL without the query parameters of the signature.',
      'Revoke the token if it is still valid.',
      'Describe how to get a signed URL with a scheme of type signedUrl or s3, and refer to it.',
    ],
  },
}
