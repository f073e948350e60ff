/** A browser app with a bundler, no Node types, and every declaration of ours checked. */
import {
  type Auth,
  type AuthorizedRequest,
  assetOf,
  bearer,
  createAuth,
  defaultStrategies,
  isAuthError,
  memoryStore,
  type SessionStore,
} from 'stac-auth'
import {
  createLiveAuth,
  createLogins,
  credentialFrom,
  describeRequirements,
  dpopKeyStore,
  indexedDbStore,
  type Logins,
  sessionStorageStore,
} from 'stac-auth/browser'
import { defineStacAuth, type StacAuthElement } from 'stac-auth/element'
import { lint, type Problem } from 'stac-auth/lint'
import { httpWithTokenIssuer } from 'stac-auth/strategies'

const auth: Auth = createAuth({ credentials: bearer(async () => 'token', 'https://data.example/') })

declare const privacyPass: Awaited<ReturnType<Parameters<typeof httpWithTokenIssuer>[0]>>
export const withTokenIssuers: Auth = createLiveAuth({
  credentials: [],
  strategies: [...defaultStrategies, httpWithTokenIssuer(async () => privacyPass)],
})

export const userOf = async (): Promise<string | undefined> => (await auth.status())[0]?.user

/** Documents may have types of their own. */
interface Item {
  readonly id: string
  readonly assets: { readonly [key: string]: { readonly href: string } }
}

export async function show(item: Item): Promise<Blob> {
  const request: AuthorizedRequest = await auth.authorize(assetOf(item, 'thumbnail'))
  const response: Response = await auth.fetch(request.url)
  return response.blob()
}

export function describe(error: unknown): string {
  return isAuthError(error) ? error.code : 'unknown'
}

export const problems = (document: unknown): readonly Problem[] => lint(document)

export const stores: readonly SessionStore[] = [memoryStore(), sessionStorageStore(), indexedDbStore()]

export const logins: Logins = createLogins(auth, { callback: '/callback.html' })
export const pair: () => Promise<CryptoKeyPair> = dpopKeyStore().pair('portal')

export async function ask(item: Item, values: Readonly<Record<string, string>>): Promise<Auth> {
  const [model] = await describeRequirements(assetOf(item, 'thumbnail'))
  if (!model) return auth
  const { sendTo, secretTo } = model
  return createAuth({ credentials: await credentialFrom(model, values, { sendTo, secretTo }) })
}

export function signIn(item: Item): StacAuthElement {
  defineStacAuth()
  const element = document.createElement('stac-auth')
  element.auth = createLiveAuth({ credentials: [] })
  element.logins = logins
  element.document = item
  element.watchClosing = false
  element.atProvider = true
  element.strings = { title: 'Sign in' }
  element.addEventListener('stac-auth-ready', ({ detail }) => console.log(detail.state))
  return element
}
