/** The page of the login tests: its address says what to do, the global named after the script does it. */

import { completeLogin, createLogins, dpopKeyStore, indexedDbStore, sessionStorageStore } from '../../src/browser/index.ts'
import { assetOf, createAuth, isAuthError } from '../../src/index.ts'
import { unchecked } from '../harness/unchecked.ts'

const parameters = new URLSearchParams(location.search)
const violations: string[] = []
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  violations.push(`${violatedDirective} ${blockedURI}`),
)

/** What came of it, as plain data. */
async function told<T>(work: Promise<T>): Promise<{ readonly value: T } | { readonly code: string; readonly message: string }> {
  try {
    return { value: await work }
  } catch (error) {
    return isAuthError(error) ? { code: error.code, message: error.message } : { code: 'FOREIGN', message: String(error) }
  }
}

function entryOf(id: string, issuedBy: string) {
  const bound = parameters.has('dpop') ? { dpop: true, dpopKeyPair: dpopKeyStore().pair(id) } : {}
  const scopes = parameters.has('short') ? ['read'] : ['offline_access', 'read']
  return { id, type: 'openIdConnect', issuer: issuedBy, clientId: 'page', scopes, sendTo: [`${issuedBy}/`], ...bound }
}

function start(login: string, issuedBy: string) {
  const changes: string[] = []
  const other = parameters.get('other')
  const auth = createAuth({
    credentials: unchecked([entryOf('portal', issuedBy), ...(other === null ? [] : [entryOf('other', other)])]),
    session: parameters.has('shared') ? indexedDbStore() : sessionStorageStore(),
    onSession: ({ credential, change }) => changes.push(`${credential} ${change}`),
  })
  const logins = createLogins(auth, { callback: '/callback.html', afterLogout: '/bye.html' })
  const button = document.createElement('button')
  button.id = login
  button.textContent = 'Log in'
  const controller = new AbortController()
  const app = {
    violations,
    changes,
    finished: told(logins.finish()),
    login: undefined as Promise<unknown> | undefined,
    read: (url: string) => told(auth.fetch(url).then((response) => response.text())),
    open: (item: object, key: string) => told(auth.fetch(assetOf(item, key)).then((response) => response.text())),
    status: () => told(auth.status()),
    logout: (atProvider: boolean) => told(logins.logout('portal', { atProvider })),
    logoutAll: () => told(logins.logoutAll()),
    redirect: (id = 'portal') => told(logins.redirect(id)),
    giveUp: () => controller.abort(),
    refusal: () => auth.fetch(issuedBy).catch((error: unknown) => error),
    isAuthError,
  }
  button.onclick = () => {
    const { signal } = controller
    app.login = told(logins.popup(parameters.get('who') ?? 'portal', { signal, watchClosing: !parameters.has('coop') }))
  }
  document.body.append(button)
  return app
}

declare global {
  var app: ReturnType<typeof start>
  var copy: ReturnType<typeof start>
  var completed: ReturnType<typeof completeLogin>
}

const name = document.currentScript?.dataset.name === 'copy' ? 'copy' : 'app'
const issuer = parameters.get('issuer')
if (issuer !== null) globalThis[name] = start(name, issuer)
else if (location.pathname === '/callback.html') globalThis.completed = completeLogin()
