import { own, ownString } from '../../stac/json.ts'
import { hostOf, protocolOf } from '../address.ts'
import type { LintDocument } from '../model.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** Links to strangers do not ask for this catalog's credentials. */
export const foreignHostRef: Rule = {
  meta: { id: 'foreign-host-ref', section: 'references' },
  cases: [
    {
      meta: {
        code: 'foreign-host-ref',
        severity: { recommended: 'warn', strict: 'error', schema: 'off' },
        messages: { foreign: 'credentials of this catalog would go to {host}' },
        fix: 'suggestion',
      },
      protectedTarget({ kind, href, pointer, object, document }, report) {
        if (kind !== 'link' || !protocolOf(href)?.startsWith('http')) return
        const host = hostOf(href)
        if (isPublic(host) || (RELATIONS.has(ownString(object, 'rel') ?? '') && isElsewhere(host, document)))
          report(`${pointer}/auth:refs`, 'foreign', { host })
      },
    },
  ],
}

const PUBLIC = new Set([
  'creativecommons.org',
  'spdx.org',
  'opensource.org',
  'doi.org',
  'w3.org',
  'stac-extensions.github.io',
  'schemas.stacspec.org',
  'github.com',
  'raw.githubusercontent.com',
])

/** True for a known public host and whatever is below it. */
function isPublic(host: string): boolean {
  for (let name = host; ; name = name.slice(name.indexOf('.') + 1)) {
    if (PUBLIC.has(name)) return true
    if (!name.includes('.')) return false
  }
}

const RELATIONS = new Set(['license', 'cite-as', 'about', 'via', 'describedby', 'author'])

/** Another site than the document's own; false when nobody knows where the document lives. */
function isElsewhere(host: string, { object, url }: LintDocument): boolean {
  const links = own(object, 'links')
  const self = Array.isArray(links) ? links.find((link) => ownString(link, 'rel') === 'self') : undefined
  const home = hostOf(ownString(self, 'href') ?? '') || hostOf(url ?? '')
  return home !== '' && site(home) !== site(host)
}

function site(host: string): string {
  return host.split('.').slice(-2).join('.')
}

export const docs: RuleDocs = {
  'foreign-host-ref':
    'Middleware that puts refs on every link also puts them on licences and documentation of others, who would then receive keys and tokens.',
}
