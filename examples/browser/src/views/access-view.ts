/** What a document needs, once for each provider: the element of the library. */
import { isAuthError, type Target } from 'stac-auth'
import { defineStacAuth, type StacAuthElement } from 'stac-auth/element'
import { element, fill, pace } from '../dom.ts'
import { blockedByPolicy } from '../policy.ts'
import type { OpenDocument } from '../reader.ts'
import type { SiteSettings } from '../site.ts'
import type { Wallet } from '../wallet.ts'
import { hostOf } from '../words.ts'
import { refusalView } from './refusal.ts'

export interface AccessView {
  readonly root: HTMLElement
  /** Shows that a credential was rejected, at its provider; other failures are none of its business. */
  report(error: unknown): void
  /** Goes to the provider that receives what is missing for these URLs. */
  goTo(sendTo: readonly string[]): void
  /** Calls the listener when what was missing is there. */
  onReady(listener: () => void): void
}

defineStacAuth()

/** Asks for what the files of the document need; hidden while nothing is protected. */
export function accessViewOf(open: OpenDocument, wallet: Wallet, site: SiteSettings): AccessView {
  const { document, url, parents } = open
  return accessView({ document, url, parents }, wallet, site)
}

/** Asks for what one target needs. */
export function accessViewFor(target: Target, wallet: Wallet, site: SiteSettings): AccessView {
  return accessView({ target }, wallet, site)
}

function accessView(question: Partial<StacAuthElement>, { auth, logins, named }: Wallet, site: SiteSettings): AccessView {
  const root = element('stac-auth', { hidden: true })
  Object.assign(root, question, { auth, logins, typed: named, clients: site.clients, locale: 'en' })
  const update = () => (root.hidden = root.state === 'open')
  root.addEventListener('stac-auth-ready', update)
  root.addEventListener('stac-auth-needed', update)
  const problem = element('div', { role: 'alert' })
  root.addEventListener('stac-auth-error', async () => {
    update()
    const blocked = await blockedByPolicy()
    fill(problem, blocked && refusalView(blocked))
  })
  return {
    root: element('div', { class: 'needs' }, root, problem),
    report(error) {
      if (!isAuthError(error) || error.code !== 'AUTH_REJECTED') return
      if (root.state !== 'checking') return root.report(error)
      // Before the element has looked, it has no provider to show it at.
      const looked = new AbortController()
      const report = () => {
        looked.abort()
        root.report(error)
      }
      for (const event of ['stac-auth-ready', 'stac-auth-needed']) root.addEventListener(event, report, { signal: looked.signal })
    },
    goTo(sendTo) {
      const hosts = sendTo.map(hostOf)
      const providers = [...(root.shadowRoot?.querySelectorAll<HTMLElement>('[part="provider"]') ?? [])]
      const provider = providers.find(({ textContent }) => hosts.some((host) => textContent?.includes(host)))
      const heading = root.shadowRoot?.querySelector<HTMLElement>('[part="heading"]')
      const place = provider?.querySelector<HTMLElement>('form :is(input, select, textarea), [part~="button"]') ?? heading
      place?.focus({ preventScroll: true })
      ;(provider ?? root).scrollIntoView({ block: 'center', behavior: pace() })
    },
    onReady(listener) {
      let wasMissing = false
      root.addEventListener('stac-auth-needed', () => (wasMissing = true))
      root.addEventListener('stac-auth-ready', () => wasMissing && listener())
    },
  }
}
