import { own, ownString } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { LintDocument } from '../model.ts'
import { hostOf, protocolOf } from '../model.ts'
import { rule } from '../rule.ts'

/** Links to other sites do not use the credentials of this catalog. */
export const foreignHostRef = rule('foreign-host-ref', 'references', {
  'foreign-host-ref': {
    levels: ['warn', 'error', 'off'],
    messages: { foreign: 'auth:refs on this link would send credentials of the catalog to {host}: remove them' },
    fix: 'suggestion',
    protectedTarget(target, report) {
      const { kind, href, object, document } = target
      if (kind !== 'link' || !protocolOf(href)?.startsWith('http')) return
      const host = decodedHost(href)
      if (PUBLIC.test(host) || (RELATIONS.has(ownString(object, 'rel') ?? '') && isElsewhere(host, document)))
        report(`${target.pointer}/auth:refs`, 'foreign', { host })
    },
  },
})

/** Known public hosts and their subdomains. */
const PUBLIC =
  /(?:^|\.)(?:creativecommons\.org|spdx\.org|opensource\.org|doi\.org|w3\.org|stac-extensions\.github\.io|schemas\.stacspec\.org|github\.com|raw\.githubusercontent\.com)$/

const RELATIONS = new Set(['license', 'cite-as', 'about', 'via', 'describedby', 'author'])

/** Returns the host that a request would be sent to: percent-decoded, and in Punycode for other scripts. */
export function decodedHost(address: string): string {
  const host = hostOf(address)
  return /^[a-z0-9.-]*$/.test(host) || !canParseUrl(address) ? host : new URL(address).hostname
}

/** The known hosts of a document. */
type Place = Pick<LintDocument, 'object' | 'url' | 'run'>

/** Returns true for a site other than that of the document; false if the URL of the document is unknown. */
function isElsewhere(host: string, document: Place): boolean {
  const home = homeOf(document)
  return home !== '' && siteOf(home, document) !== siteOf(host, document)
}

/** Returns the host of the document; empty if it is unknown. */
export function homeOf({ object, url }: Place): string {
  const links = own(object, 'links')
  const self = Array.isArray(links) ? links.find((link) => ownString(link, 'rel') === 'self') : undefined
  return decodedHost(ownString(self, 'href') ?? '') || decodedHost(url ?? '')
}

/** Returns the registrable domain of a host, or its last two labels in a run without the public suffix list; empty for no host. */
export function siteOf(host: string, { run }: Pick<Place, 'run'>): string {
  if (host === '') return ''
  return run?.siteOf ? run.siteOf(host) : host.slice(host.lastIndexOf('.', host.lastIndexOf('.') - 1) + 1)
}
