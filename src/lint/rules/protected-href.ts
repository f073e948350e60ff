import { hrefProblem } from '../../http/url.ts'
import { ownString } from '../../stac/document.ts'
import { hrefIn } from '../../stac/target.ts'
import type { TargetNode } from '../model.ts'
import { isInsecure, protocolOf } from '../model.ts'
import { rule } from '../rule.ts'
import { hasPassword } from '../secrets.ts'

export const protectedHref = rule('protected-href', 'references', {
  'scheme-href-mismatch': {
    levels: ['warn', 'warn', 'off'],
    messages: { mismatch: 'schemes of type {types} cannot authorize {scheme}: URLs; refer to a scheme that can' },
    protectedTarget(target, report) {
      const scheme = protocolOf(target.href)
      if (scheme !== 's3' && scheme !== 'file') return
      if (scheme === 's3' && target.refs?.some((ref) => opensS3(target, ref))) return
      const { types } = target
      if (types.length === 0) return
      report(`${target.pointer}/auth:refs`, 'mismatch', { types: [...new Set(types)].join(', '), scheme })
    },
  },
  'href-invalid': {
    levels: ['error', 'error', 'off'],
    messages: { invalid: 'the URL of this {what} {problem}' },
    protectedTarget(target, report) {
      const { href } = target
      const problem = hrefProblem(href)
      if (!problem || isReportedElsewhere(problem.code, href, target)) return
      report(`${target.pointer}/href`, 'invalid', { what: nounOf(target), problem: problem.message })
    },
  },
  'href-scheme': {
    levels: ['info', 'info', 'off'],
    messages: { scheme: 'clients that open no {scheme}: URLs, such as stac-auth, cannot request this {what}: offer an https URL as well' },
    protectedTarget(target, report) {
      const { href, object } = target
      const scheme = otherScheme(href)
      if (scheme !== undefined && hrefProblem(hrefIn(object) ?? ''))
        report(`${target.pointer}/href`, 'scheme', { scheme, what: nounOf(target) })
    },
  },
  'href-space': {
    levels: ['warn', 'warn', 'off'],
    messages: { space: 'the URL of this {what} has a space in it, which some clients refuse: write %20' },
    fix: 'suggestion',
    protectedTarget(target, report) {
      const { href } = target
      if (href.includes(' ') && !hrefProblem(href)) report(`${target.pointer}/href`, 'space', { what: nounOf(target) })
    },
  },
  'insecure-href': {
    levels: ['warn', 'error', 'off'],
    messages: { insecure: 'href starts with http:, so credentials would be sent unencrypted: use https' },
    protectedTarget(target, report) {
      if (isInsecure(target.href) && target.types.some((type) => SENT.has(type))) report(`${target.pointer}/href`, 'insecure')
    },
  },
})

function nounOf({ kind }: TargetNode): string {
  return kind === 'link' ? 'link' : 'asset'
}

function opensS3(target: TargetNode, ref: unknown): boolean {
  const type = ownString(target.definition(ref)?.value, 'type')
  return type !== undefined && !HTTP_ONLY.has(type)
}

const HTTP_ONLY = new Set(['http', 'apiKey', 'openIdConnect'])

/** `secret-in-document` reports passwords, `scheme-href-mismatch` local files, `href-scheme` URLs for other clients. */
function isReportedElsewhere(code: string, href: string, { types }: TargetNode): boolean {
  if (code === 'URL_HAS_USERINFO') return hasPassword(href)
  return code === 'URL_SCHEME_FORBIDDEN' && (otherScheme(href) !== undefined || (types.length > 0 && protocolOf(href) === 'file'))
}

/** Returns the scheme of a URL that names a host or container and is neither opened by this client nor run by a page. */
function otherScheme(href: string): string | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):\/\/[^/?#]/i.exec(href)?.[1]?.toLowerCase()
  return scheme === undefined || NEVER_OTHER.has(scheme) ? undefined : scheme
}

const NEVER_OTHER = new Set(['https', 'http', 's3', 'gs', 'file', 'javascript', 'vbscript', 'data', 'blob', 'about'])

const SENT = new Set(['http', 'apiKey', 'oauth2', 'openIdConnect'])
