import { own, ownObject, ownString } from '../../stac/document.ts'
import { rule } from '../rule.ts'
import { decodedHost, homeOf, siteOf } from './foreign-host-ref.ts'

/** A provider shares a site with the catalog or with its files. */
export const foreignProvider = rule('foreign-provider', 'schemes', {
  'foreign-provider': {
    levels: ['info', 'warn', 'off'],
    messages: { provider: '"{name}" sends secrets to {host}, which is no site of the catalog or its files: check it' },
    document(document, report) {
      const home = siteOf(homeOf(document), document)
      if (home === '') return
      const providers = document.schemes.map((scheme) => ({ ...scheme, host: providerOf(scheme.value) }))
      const foreign = providers.filter(({ host }) => ![home, ''].includes(siteOf(host, document)))
      if (foreign.length === 0) return
      const files = document.targets.flatMap(({ kind, refs, href }) =>
        kind === 'link' || !refs ? [] : [{ refs, site: siteOf(decodedHost(href ?? ''), document) }],
      )
      for (const { name, host, pointer } of foreign) {
        const known = [home, siteOf(host, document), '']
        if (files.some(({ refs, site }) => refs.includes(name) && !known.includes(site))) report(pointer, 'provider', { name, host })
      }
    },
  },
})

/** Returns the host of the first URL that a scheme names; empty when it names none. */
function providerOf(scheme: unknown): string {
  for (const part of [scheme, ...Object.values(ownObject(scheme, 'flows') ?? {})]) {
    for (const name of ['openIdConnectUrl', 'authorizationUrl', 'tokenUrl', 'authorizationApi']) {
      if (own(part, name) !== undefined) return decodedHost(ownString(part, name) ?? '')
    }
  }
  return ''
}
