/** Decides which URLs the gateway requests, and by which rule a credential is selected for each. */

import type { Auth } from '../../auth/auth.ts'
import { below, hrefOf, targetAddress } from '../../auth/resource.ts'
import { covers, type UrlPattern } from '../../auth/url-pattern.ts'
import { type AuthError, isAuthError, SelectionError, TrustError } from '../../errors.ts'
import { own, ownString } from '../../stac/document.ts'
import { isProtected, type Target, targetsOf } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { commandWord } from '../../text/shell-word.ts'
import type { SourceDocument } from '../download/index.ts'
import type { GatewayRefusal, GatewayTarget } from './gateway.ts'
import { gatewayPath, withoutQuery } from './gateway-url.ts'

/** Documents whose targets are reachable. */
export type GatewayDocument = SourceDocument

/** How a URL is requested: as a target, by the references of its document, or as a URL, by `sendTo` of the credentials. */
export type Route = { readonly target: Target; readonly isExact: boolean } | { readonly target?: undefined }

/** The URLs that documents and credentials allow. Nothing else is ever requested. */
export class Routes {
  readonly targets: readonly Omit<GatewayTarget, 'url'>[]
  readonly refused: readonly GatewayRefusal[]
  readonly #auth: Pick<Auth, 'service'>
  readonly #exact = new Map<string, Target>()
  readonly #protected = new Folders()
  readonly #public = new Folders()
  readonly #origins = new Set<string>()

  constructor(auth: Pick<Auth, 'service'>, documents: readonly GatewayDocument[]) {
    this.#auth = auth
    const reachable: Omit<GatewayTarget, 'url'>[] = []
    const refused: GatewayRefusal[] = []
    for (const { document, url, parents = [] } of documents) {
      const name = ownString(document, 'id') ?? withoutQuery(url ?? '')
      for (const target of targetsOf(document, { parents, ...(url !== undefined && { url }) })) {
        if (target.kind === 'item_asset') continue
        const isFile = target.kind === 'asset' || target.kind === 'alternate'
        const label = { document: ownString(target.scope.document, 'id') ?? name, key: isFile ? keyOf(target) : '' }
        const href = urlOf(target)
        if (typeof href !== 'string') {
          if (isFile)
            refused.push({ ...label, code: href.code, message: href.message, ...(href.hint !== undefined && { hint: href.hint }) })
          continue
        }
        this.#add(href, target)
        if (isFile) reachable.push({ ...label, href })
        if (isProtected(target)) this.#protected.add(href, target)
        else if (isFile) this.#public.add(href, target)
      }
      if (url === undefined || gatewayPath(url) === undefined || !canParseUrl(url)) continue
      const declared = documentTarget(document, hrefOf(new URL(url)))
      this.#add(declared.href, declared)
      this.#public.add(declared.href, declared)
    }
    this.targets = reachable
    this.refused = refused
  }

  /**
   * Returns how a URL is requested: a target with references, and URLs below its folder on the same origin, by these references; other
   * URLs by `sendTo` of the credentials; other targets of the documents without a credential.
   *
   * Errors: `NO_CREDENTIAL` for a URL that nothing allows, `URL_*`.
   */
  async route(url: string): Promise<Route> {
    const href = normalized(url)
    const target = this.#exact.get(href)
    if (target && saysWhatIsNeeded(target)) return { target, isExact: true }
    const above = target ? undefined : this.#protected.above(href)
    if (above) return { target: below(above, href), isExact: false }
    return this.byUrl(url)
  }

  /** Returns the target with that URL. */
  targetAt(url: string): Target | undefined {
    return this.#exact.get(normalized(url))
  }

  /** Returns how a URL is requested to which no references apply. Errors: as of {@link route}. */
  async byUrl(url: string): Promise<Route> {
    const href = normalized(url)
    const refusal = await this.#refusal(url)
    if (refusal === undefined) return {}
    const target = this.#exact.get(href)
    if (target) return { target, isExact: true }
    const above = this.#public.above(href)
    if (above) return { target: below(above, href), isExact: false }
    throw refusal
  }

  /** Returns how a search with a body is requested, which is never for a target. Errors: as of {@link route}. */
  async search(url: string): Promise<Route> {
    const refusal = await this.#refusal(url)
    if (refusal !== undefined && !this.#origins.has(originOf(url))) throw refusal
    return {}
  }

  /** True for a URL that would be requested. */
  async allows(url: string): Promise<boolean> {
    try {
      await this.route(url)
      return true
    } catch (error) {
      if (isAuthError(error)) return false
      throw error
    }
  }

  #add(href: string, target: Target): void {
    this.#origins.add(originOf(href))
    const known = this.#exact.get(href)
    if (!known || (!isProtected(known) && isProtected(target))) this.#exact.set(href, target)
  }

  /** Returns why no credential may be sent to a URL; undefined when one may be. */
  async #refusal(url: string): Promise<Error | undefined> {
    try {
      await this.#auth.service(url)
      return undefined
    } catch (error) {
      if (!isAuthError(error)) throw error
      if (error.code === 'NO_CREDENTIAL') return notAllowed(url)
      const why = error.message.replace('the URL of the service', 'the URL')
      return new TrustError(error.code, why, { url, ...(error.hint !== undefined && { hint: error.hint }) })
    }
  }
}

/** Maximum number of slashes in a known folder. A document with thousands could slow every lookup below it. */
const MOST_SLASHES = 100

/** The folders of targets. */
class Folders {
  readonly #targets = new Map<string, Target>()
  #longest = 0

  /** Adds a target; the first one of each folder counts. */
  add(href: string, target: Target): void {
    const folder = folderOf(href)
    if (this.#targets.has(folder) || folder.split('/').length - 1 > MOST_SLASHES) return
    this.#targets.set(folder, target)
    this.#longest = Math.max(this.#longest, folder.length)
  }

  /** Returns a target of the nearest folder above a URL; for a path with encoded slashes only of the root, as with patterns in `sendTo`. */
  above(href: string): Target | undefined {
    const url = new URL(href)
    // The part after the length of the longest folder cannot be in a folder.
    for (
      let folder = folderOf(withoutQuery(href).slice(0, this.#longest)), rest = '';
      folder !== rest;
      rest = folder, folder = folderOf(folder.slice(0, -1))
    ) {
      const target = this.#targets.get(folder)
      if (target && covers(patternOf(folder), url)) return target
    }
    return undefined
  }
}

/** Returns `scheme://host/path/`. */
function folderOf(href: string): string {
  const path = withoutQuery(href)
  const isBare = path.split('/', 4).length < 4
  return isBare ? `${path}/` : path.slice(0, path.lastIndexOf('/') + 1)
}

function patternOf(folder: string): UrlPattern {
  const { protocol, hostname: host, port, pathname: path } = new URL(folder)
  return { pattern: folder, scheme: protocol.slice(0, -1) as UrlPattern['scheme'], host, wildcard: false, port, path }
}

function notAllowed(url: string): SelectionError {
  const place = originOf(url)
  return new SelectionError('NO_CREDENTIAL', `${place} is not requested: no document names the URL and no credential may be sent there`, {
    url,
    hint: `start the gateway with the document that names the URL, or, if you trust ${place}: stac-auth credentials trust ID ${commandWord(`${place}/`)}`,
  })
}

/** Returns the normalized URL. Errors: `URL_INVALID`. */
function normalized(url: string): string {
  try {
    return hrefOf(new URL(url))
  } catch {
    throw new TrustError('URL_INVALID', 'the URL behind the path is malformed')
  }
}

/** Returns the URL of a target, or why it has none. */
function urlOf(target: Target): string | AuthError {
  try {
    return targetAddress(target)
  } catch (error) {
    if (isAuthError(error)) return error
    throw error
  }
}

/** True for a target with `auth:refs`; an empty list states that it needs no credential. */
function saysWhatIsNeeded(target: Target): boolean {
  return own(target.refsOf.object, 'auth:refs') !== undefined
}

/** Returns the document itself as a target without references. */
function documentTarget(document: object, href: string): Target {
  const object = { href }
  const scope = { document: document as Target['scope']['document'], url: href, at: '', parents: [] }
  return { kind: 'asset', href, refs: [], pointer: '', scope, object, refsOf: { object, pointer: '' } }
}

function keyOf({ kind, pointer }: Target): string {
  const names = pointer.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  return kind === 'alternate' ? `${names.at(-3)}/${names.at(-1)}` : (names.at(-1) ?? '')
}

/** Returns `scheme://host[:port]`, also for `s3:`. */
function originOf(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}
