import { hrefProblem } from '../../http/url.ts'
import type { TargetNode } from '../model.ts'
import { isInsecure, protocolOf } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'
import { hasUserInfo } from '../secrets.ts'

/** At least one of the schemes can be used with the URL. */
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

/** Credentials are sent over https only. */
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
  'scheme-href-mismatch': {
    part: 'fields',
    why: 'An HTTP header cannot be sent with an s3: URL, and a file: URL needs no authentication, so a client has no way to use the scheme. A gs: URL stands for an https URL.',
    repair: [
      'For an s3: URL, refer to a scheme of type s3 or signedUrl.',
      'Or write the https URL of the same object, if the service accepts the scheme there.',
      'For a file: URL, remove auth:refs and publish a URL that others can read.',
    ],
  },
  'href-invalid': {
    part: 'fields',
    why: 'URL parsers read spaces, backslashes, control characters and unusual hosts differently, and the host decides where a credential is sent. Clients such as `stac-auth authorize` refuse the URL before anything is sent. Targets without auth:refs are not checked.',
    repair: [
      'Percent-encode the path: a space becomes %20.',
      'Replace backslashes by slashes, and remove control characters.',
      'Write a host name of ASCII letters, digits, hyphens and dots.',
    ],
  },
  'insecure-href': {
    part: 'fields',
    why: 'Everybody on the network path can read a key or token that is sent over plain http. Clients refuse to send it, so the asset cannot be downloaded. Loopback addresses are left out.',
    repair: [
      'Check that the server answers over https, and write the https URL.',
      'If it does not, get a certificate, or serve the file from another host.',
    ],
  },
}
