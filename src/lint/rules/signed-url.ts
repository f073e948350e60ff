import { endedAt, urlSignature } from '../../http/url-signature.ts'
import { ownString } from '../../stac/document.ts'
import type { TargetNode } from '../model.ts'
import { rule } from '../rule.ts'
import { secretParameter } from '../secrets.ts'

/** A published URL has no signature and no token. */
export const signedUrl = rule('signed-url', 'references', {
  'signed-href': {
    levels: ['warn', 'error', 'off'],
    messages: { signed: 'href carries a signature or token that everyone can use: write the URL without it' },
    target(target, report) {
      if (isSigned(target) && endOf(target) === undefined) report(`${target.pointer}/href`, 'signed')
    },
  },
  'expired-href': {
    levels: ['info', 'info', 'off'],
    messages: { expired: 'the signature in href ended on {date}, so that nobody can read the file: write the URL without it' },
    target(target, report) {
      const end = isSigned(target) ? endOf(target) : undefined
      if (end !== undefined) report(`${target.pointer}/href`, 'expired', { date: new Date(end).toISOString().slice(0, 10) })
    },
  },
})

function isSigned({ href, kind, object }: TargetNode): boolean {
  if (href === undefined || !href.includes('?')) return false
  const parameter = secretParameter(href)
  // Paging links use the same name for the position in a listing.
  const isPaging = kind === 'link' && parameter === 'token' && /^(?:next|prev(?:ious)?|first|last)$/.test(ownString(object, 'rel') ?? '')
  return parameter !== undefined && !isPaging
}

function endOf({ href = '' }: TargetNode): number | undefined {
  const signature = urlSignature(href)
  return signature && endedAt(signature, Date.now())
}
