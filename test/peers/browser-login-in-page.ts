/** The page of the login tests: its address says what to do, `globalThis.app` does it. */
import { completeLogin, createLogins, sessionStorageStore } from '../../src/browser/index.ts'
import { createAuth, isAuthError } from '../../src/index.ts'

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

function start(issuer: string) {
  const changes: string[] = []
  const entry = {
    id: 'portal',
    type: 'openIdConnect',
    issuer,
    clientId: 'page',
    scopes: ['offline_access', 'read'],
    sendTo: [`${issuer}/`],
  }
  const auth = createAuth({
    credentials: [entry],
    session: sessionStorageStore(),
    onSession: ({ change }) => changes.push(change),
  })
  const logins = createLogins(auth, { callback: '/callback.html', afterLogout: '/bye.html' })
  const popup = document.createElement('button')
  popup.id = 'popup'
  popup.textContent = 'Log in'
  const app = {
    violations,
    changes,
    finished: told(logins.finish()),
    login: undefined as ReturnType<typeof told<void>> | undefined,
    read: (url: string) => told(auth.fetch(url).then((response) => response.text())),
    status: () => told(auth.status()),
    logout: (atProvider: boolean) => told(logins.logout('portal', { atProvider })),
    redirect: () => told(logins.redirect('portal')),
  }
  popup.onclick = () => {
    app.login = told(logins.popup('portal', { watchClosing: parameters.get('coop') === null }))
  }
  document.body.append(popup)
  return app
}

declare global {
  var app: ReturnType<typeof start>
  var completed: ReturnType<typeof completeLogin>
}

const issuer = parameters.get('issuer')
if (issuer !== null) globalThis.app = start(issuer)
else if (location.pathname === '/callback.html') globalThis.completed = completeLogin()
