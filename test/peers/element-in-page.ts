/** The page of the tests of `<stac-auth>`: it does what `elementPage` is told. */
import type { CredentialObject } from '../../src/auth/credential.ts'
import { completeLogin, createLogins, indexedDbStore, sessionStorageStore } from '../../src/browser/index.ts'
import { createLiveAuth, type LiveAuth, type OfferedCredential } from '../../src/browser/live-auth.ts'
import { defineStacAuth, type StacAuthElement } from '../../src/element/index.ts'
import { assetOf, isAuthError } from '../../src/index.ts'
import { unchecked } from '../harness/unchecked.ts'

export interface Settings {
  readonly document?: object
  readonly credentials?: readonly CredentialObject[]
  readonly properties?: Readonly<Record<string, unknown>>
  /** Credentials that the page offers. */
  readonly offers?: readonly OfferedCredential[]
  /** True for a page that keeps what users add in IndexedDB. */
  readonly keeps?: boolean
  /** False for a page without logins. */
  readonly logins?: boolean
  /** True leaves the elements that are there. */
  readonly beside?: boolean
}

function request<Result>(asked: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
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
  addEventListener('stac-auth-asking', ({ detail }) => events.push(`stac-auth-asking ${detail.asking}`))
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
    /** Requests a URL or an asset of the document, as a page does that leaves all questions to the element. */
    async read(of: string): Promise<string> {
      const target = of.includes(':') ? of : assetOf(page.element?.document ?? {}, of)
      const answer = page.auth?.fetch(target).then((response) => response.text())
      return (await answer?.catch((error: unknown) => (isAuthError(error) ? error.code : String(error)))) ?? ''
    },
    /** Adds a key as the code of a page does. */
    async add(id: string, value: string, sendTo: string): Promise<void> {
      await page.auth?.credentials.add({ id, type: 'apiKey', in: 'header', name: 'x-api-key', value, sendTo })
    },
    /** Everything that the browser keeps for this origin, as text. */
    async kept(): Promise<string> {
      const texts = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })]
      for (const { name = '' } of await indexedDB.databases()) {
        const database = await request(indexedDB.open(name))
        for (const store of database.objectStoreNames) {
          texts.push(JSON.stringify(await request(database.transaction(store).objectStore(store).getAll())))
        }
        database.close()
      }
      return texts.join('\n')
    },
    /** Shows a document; ends when the element knows what is needed. Without a document it ends at once. */
    async show(settings: Settings): Promise<string> {
      const { document: shown, credentials = [], offers = [], properties = {}, keeps = false, logins = true, beside = false } = settings
      events.length = 0
      const typed = (properties.typed as readonly string[] | undefined) ?? []
      const session = keeps ? indexedDbStore() : sessionStorageStore()
      const auth = createLiveAuth({ credentials: unchecked(credentials), offers, typed, session })
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
      if (shown) await settled
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
