/** The requests of this STAC Browser with the credentials of stac-auth.config.js. */
import axios from 'axios'
import { createAuth } from 'stac-auth'
import { browserRequests } from 'stac-auth/adapters/stac-browser'
import { reactive } from 'vue'
import { credentials } from '../stac-auth.config'

const auth = createAuth({ credentials, onSession: () => requests.refresh() })

export const requests = browserRequests(auth, { state: reactive({ version: 0 }), onError: console.warn })

/** The logins, which are loaded with the first one. */
async function logins() {
  const { createLogins } = await import('stac-auth/browser')
  return createLogins(auth, { callback: '/auth' })
}

/** Loads what the credentials need, and finishes a login that began before the page was left. Call it before the first page is shown. */
export async function ready() {
  await auth.ready()
  if (!new URLSearchParams(location.search).has('state')) return
  try {
    const finished = await (await logins()).finish()
    if (finished) history.replaceState(null, '', finished.returnTo)
  } catch (error) {
    // The user refused, or took too long: shows the start page instead of none.
    console.warn(error)
    hasFailed = true
    history.replaceState(null, '', '/')
  }
}

/** True after a failed login: another one begins only when the user asks for it, because the provider may refuse without asking the user. */
let hasFailed = false

/** Instead of `axios(options)`: logs in where that is needed. */
export async function request(options) {
  try {
    return await axios(requests.authorized(options))
  } catch (error) {
    if (error.code !== 'LOGIN_REQUIRED' || hasFailed || !(await signIn(options.url))) throw error
    return new Promise(() => {})
  }
}

/** Logs in with the credential for that URL, and leaves the page; false when no login is needed. */
export async function signIn(url) {
  const credential = await requests.loginFor(url)
  if (credential === undefined) return false
  await (await logins()).redirect(credential)
  return true
}
