import { ownString } from '../../stac/document.ts'
import { rule } from '../rule.ts'
import { secretParameter } from '../secrets.ts'

/** A published URL has no signature and no token. */
export const signedHref = rule('signed-href', 'references', {
  'signed-href': {
    levels: ['warn', 'error', 'off'],
    messages: { signed: 'href carries a signature or token that everyone can use: write the URL without it' },
    target(target, report) {
      const { href, kind, object } = target
      if (href === undefined || !href.includes('?')) return
      const parameter = secretParameter(href)
      // Paging links use the same name for the position in a listing.
      const paging = kind === 'link' && parameter === 'token' && /^(?:next|prev(?:ious)?|first|last)$/.test(ownString(object, 'rel') ?? '')
      if (parameter && !paging) report(`${target.pointer}/href`, 'signed')
    },
  },
})
