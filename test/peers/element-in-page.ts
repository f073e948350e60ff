/** The page of the tests of `<stac-auth>`: it does what `elementPage` is told. */
import type { CredentialObject } from '../../src/auth/credential.ts'
import { completeLogin, createLogins, sessionStorageStore } from '../../src/browser/index.ts'
import { createLiveAuth, type LiveAuth } from '../../src/browser/live-auth.ts'
import { defineStacAuth, type StacAuthElement } from '../../src/element/index.ts'
import { assetOf, isAuthError } from '../../src/index.ts'
import { unchecked } from '../harness/unchecked.ts'

export interface Settings {
  readonly document?: object
  readonly credentials?: readonly CredentialObject[]
  readonly properties?: Readonly<Record<string, unknown>>
  /** False for a page without logins. */
  readonly logins?: boolean
  /** True leaves the elements that are there. */
  readonly beside?: boolean
}

/** Defines the element, and returns what the tests use. */
function start() {
  const events: string[] = []
  for (const name of ['stac-auth-ready', 'stac-auth-needed', 'stac-auth-error'] as const) {
    addEventListener(name, ({ detail }) => {
      const error = 'error' in detail ? detail.error : undefined
      events.push(`${name} ${'state' in detail ? detail.state : isAuthError(error) ? error.code : String(error)}`)
    })
  }
  const violations: string[] = []
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => violations.push(`${violatedDirective} ${blockedURI}`))

  const page = {
    /** Defines the element by another name, after one of that name has its properties. */
    upgradeLater(): void {
      const later = document.createElement('stac-auth-later')
      Object.assign(later, { auth: page.auth, document: { type: 'Catalog' }, locale: 'de' })
      document.querySelector('#place')?.append(later)
      defineStacAuth('stac-auth-later')
    },
    events,
    violations,
    auth: undefined as LiveAuth | undefined,
    element: undefined as StacAuthElement | undefined,
    /** Returns the headers of an authorized request for an asset of the document. */
    async headers(key: string) {
      return (await page.auth?.authorize(assetOf(page.element?.document ?? {}, key)))?.headers
    },
    /** Requests an asset, as a page does that shows errors in the element. */
    async open(key: string): Promise<void> {
      await page.auth?.fetch(assetOf(page.element?.document ?? {}, key)).catch((error: unknown) => page.element?.report(error))
    },
    /** Shows a document; ends when the element knows what is needed. */
    async show({ document: shown, credentials = [], properties = {}, logins = true, beside = false }: Settings): Promise<string> {
      events.length = 0
      const typed = (properties.typed as readonly string[] | undefined) ?? []
      const auth = createLiveAuth({ credentials: unchecked(credentials), typed, session: sessionStorageStore() })
      const element = document.createElement('stac-auth')
      Object.assign(element, { auth, document: shown, url: 'https://catalog.example/item.json', ...properties })
      if (logins) element.logins = createLogins(auth, { callback: '/callback.html' })
      const settled = new Promise((resolve) => {
        for (const name of ['stac-auth-ready', 'stac-auth-needed', 'stac-auth-error']) element.addEventListener(name, resolve)
      })
      const place = document.querySelector('#place')
      if (!beside) place?.replaceChildren()
      place?.append(element)
      page.auth = auth
      page.element = element
      await settled
      return element.state
    },
  }
  defineStacAuth()
  return page
}

declare global {
  var elementPage: ReturnType<typeof start>
}

if (location.pathname === '/callback.html') void completeLogin()
else globalThis.elementPage = start()
