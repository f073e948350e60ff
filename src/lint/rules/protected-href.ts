import { hrefProblem } from '../../http/url.ts'
import { hrefIn } from '../../stac/target.ts'
import type { TargetNode } from '../model.ts'
import { isInsecure, protocolOf } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'
import { hasPassword } from '../secrets.ts'

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

/** URLs such as `abfs:` and `ftp:` are for other clients. */
const hrefScheme: RuleCase = {
  meta: {
    code: 'href-scheme',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { scheme: 'clients that open no {scheme}: URLs, such as stac-auth, cannot request this {what}: offer an https URL as well' },
  },
  protectedTarget(target, report) {
    const { href, kind, object } = target
    const scheme = otherScheme(href)
    if (scheme !== undefined && hrefProblem(hrefIn(object) ?? ''))
      report(`${target.pointer}/href`, 'scheme', { scheme, what: kind === 'link' ? 'link' : 'asset' })
  },
}

/** Spaces in a URL are percent-encoded (RFC 3986 §2). */
const hrefSpace: RuleCase = {
  meta: {
    code: 'href-space',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { space: 'the URL of this {what} has a space in it, which some clients refuse: write %20' },
    fix: 'suggestion',
  },
  protectedTarget(target, report) {
    const { href, kind } = target
    if (!href.includes(' ') || hrefProblem(href)) return
    report(`${target.pointer}/href`, 'space', { what: kind === 'link' ? 'link' : 'asset' })
  },
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
  cases: [schemeHrefMismatch, hrefInvalid, hrefScheme, hrefSpace, insecureHref],
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
    why: 'URL parsers read backslashes, control characters, spaces at an end and unusual hosts differently, and the host decides where a credential is sent. Clients such as `stac-auth authorize` refuse the URL before anything is sent. Targets without auth:refs are not checked.',
    repair: [
      'Replace backslashes by slashes, and remove control characters and spaces at both ends.',
      'Write a host name of ASCII letters, digits, hyphens and dots.',
    ],
  },
  'href-scheme': {
    part: 'fields',
    why: 'Only clients that know the scheme, such as ftp:, can open the URL. All others cannot use the asset, and the authentication extension says nothing about the credentials of such clients. URLs of Azure Storage (abfs:, abfss:, az:) are left out when they name their account: in the URL, or by account_name in table:storage_options or xarray:storage_options of the asset.',
    repair: [
      'For Azure Storage, state account_name in table:storage_options or xarray:storage_options.',
      'Add an alternate asset with the https URL of the same file.',
      'If only such clients are meant, turn this finding off.',
    ],
  },
  'href-space': {
    part: 'fields',
    why: 'A URL has no spaces (RFC 3986). Browsers and stac-auth send %20 instead, but curl and GDAL refuse the URL.',
    repair: ['Write %20 for each space.', 'Encode the URL when you generate the document.'],
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
