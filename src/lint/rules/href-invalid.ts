import { hrefProblem } from '../../http/href.ts'
import { protocolOf } from '../address.ts'
import type { TargetNode } from '../model.ts'
import type { Rule } from '../rule.ts'
import { hasUserInfo } from '../secrets.ts'

/** The URL of a protected target can be authorized: no client sends a credential to a URL that parsers read differently. */
export const hrefInvalid: Rule = {
  meta: {
    id: 'href-invalid',
    section: 'references',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { invalid: 'the address of this {what} {problem}' },
  },
  target(target, report) {
    const { href, pointer, kind, refs } = target
    if (!refs?.length || href === undefined) return
    const problem = hrefProblem(href)
    if (!problem || isReportedElsewhere(problem.code, href, target)) return
    report(`${pointer}/href`, 'invalid', { what: kind === 'link' ? 'link' : 'asset', problem: problem.message })
  },
}

/** `secret-in-document` reports user info, `scheme-href-mismatch` local files. */
function isReportedElsewhere(code: string, href: string, { types }: TargetNode): boolean {
  if (code === 'URL_HAS_USERINFO') return hasUserInfo(href)
  return code === 'URL_SCHEME_FORBIDDEN' && types.length > 0 && protocolOf(href) === 'file'
}

/** Why the rule exists, for its page. */
export const docs =
  'URL parsers disagree about spaces, backslashes, control characters and unusual hosts, and that decides where a credential goes. So `authorize` refuses such a URL before anything is sent. Percent-encode a space as %20. Targets without auth:refs are not checked.'
