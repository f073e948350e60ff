import { own, ownObject, ownString } from '../../stac/document.ts'
import { rule } from '../rule.ts'
import { decodedHost, homeOf, siteOf } from './foreign-host-ref.ts'

/** A provider shares a site with the catalog or with its files. */
export const foreignProvider = rule('foreign-provider', 'schemes', {
  'foreign-provider': {
    levels: ['info', 'warn', 'off'],
    messages: {
      provider: '"{name}" sends secrets to {host}, but catalog and files are on other sites: confirm that host with the provider',
    },
    document(document, report) {
      const home = siteOf(homeOf(document), document)
      if (home === '') return
      for (const { name, value, pointer } of document.schemes) {
        const host = providerOf(value)
        const site = siteOf(host, document)
        if (site === home || site === '') continue
        const known = [home, site, '']
        const isForeign = document.targets.some(
          ({ kind, refs, href }) => kind !== 'link' && refs?.includes(name) && !known.includes(siteOf(decodedHost(href ?? ''), document)),
        )
        if (isForeign) report(pointer, 'provider', { name, host })
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
