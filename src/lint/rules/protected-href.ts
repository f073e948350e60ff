import { hrefProblem } from '../../http/url.ts'
import { isInsecure, protocolOf } from '../address.ts'
import type { TargetNode } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'
import { hasUserInfo } from '../secrets.ts'

/** At least one of the schemes can be applied to the address. */
const schemeHrefMismatch: RuleCase = {
  meta: {
    code: 'scheme-href-mismatch',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { mismatch: 'schemes of type {types} cannot authorize {scheme}: URLs; refer to a scheme that can' },
  },
  protectedTarget(target, report) {
    const scheme = protocolOf(target.href)
    if (scheme !== 's3' && scheme !== 'file') return
    const { types } = target
    if (types.length === 0 || !types.every((type) => scheme === 'file' || HTTP_ONLY.has(type))) return
    report(`${target.pointer}/auth:refs`, 'mismatch', { types: [...new Set(types)].join(', '), scheme })
  },
}

const HTTP_ONLY = new Set(['http', 'apiKey', 'openIdConnect'])

/** The URL of a protected target can be authorized: no client sends a credential to a URL that parsers read differently. */
const hrefInvalid: RuleCase = {
  meta: {
    code: 'href-invalid',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { invalid: 'the URL of this {what} {problem}' },
  },
  protectedTarget(target, report) {
    const { href, kind } = target
    const problem = hrefProblem(href)
    if (!problem || isReportedElsewhere(problem.code, href, target)) return
    report(`${target.pointer}/href`, 'invalid', { what: kind === 'link' ? 'link' : 'asset', problem: problem.message })
  },
}

/** `secret-in-document` reports user info, `scheme-href-mismatch` local files. */
function isReportedElsewhere(code: string, href: string, { types }: TargetNode): boolean {
  if (code === 'URL_HAS_USERINFO') return hasUserInfo(href)
  return code === 'URL_SCHEME_FORBIDDEN' && types.length > 0 && protocolOf(href) === 'file'
}

/** Credentials travel over https. */
const insecureHref: RuleCase = {
  meta: {
    code: 'insecure-href',
    severity: { recommended: 'warn', strict: 'error', schema: 'off' },
    messages: { insecure: 'href starts with http:, so credentials would be sent unencrypted: use https' },
  },
  protectedTarget(target, report) {
    if (isInsecure(target.href) && target.types.some((type) => SENT.has(type))) report(`${target.pointer}/href`, 'insecure')
  },
}

const SENT = new Set(['http', 'apiKey', 'oauth2', 'openIdConnect'])

export const protectedHref: Rule = {
  meta: { id: 'protected-href', section: 'references' },
  cases: [schemeHrefMismatch, hrefInvalid, insecureHref],
}

export const docs: RuleDocs = {
  'scheme-href-mismatch':
    'An HTTP header means nothing to the protocol of s3:, and nothing authorizes a local file. A gs: URL stands for an https URL.',
  'href-invalid':
    'URL parsers disagree about spaces, backslashes, control characters and unusual hosts, and that decides where a credential goes. So `authorize` refuses such a URL before anything is sent. Percent-encode a space as %20. Targets without auth:refs are not checked.',
  'insecure-href': 'Whoever is on the way reads keys and tokens sent over plain http. Loopback addresses are left out.',
}
