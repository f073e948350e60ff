/** The requests of this STAC Browser with the credentials of stac-auth.config.js, and the panel that asks for what they lack. */
import axios from 'axios'
import { browserRequests } from 'stac-auth/adapters/stac-browser'
import { createLiveAuth, createLogins, indexedDbStore } from 'stac-auth/browser'
import { reactive } from 'vue'
import { credentials, offers, preferred } from '../stac-auth.config'

const session = indexedDbStore()
const auth = createLiveAuth({ credentials: { credentials, preferred }, offers, session, anonymous: 'allow' })

export const requests = browserRequests(auth, { state: reactive({ version: 0 }), onError: console.warn })

/** Its version increases when documents must be read again: after logins, logouts and changes of credentials. */
export const access = reactive({ version: 0 })

let logins

/** Finishes a login that began before the page was left. Call it before the first page is shown. */
export async function ready({ pathPrefix, historyMode }) {
  // With hash history, servers may have no other page than that of the prefix.
  logins = createLogins(auth, { callback: historyMode === 'hash' ? pathPrefix : `${pathPrefix}auth` })
  await auth.ready()
  const state = new URLSearchParams(location.search).get('state')
  // The second one is a login of STAC Browser's own `authConfig`.
  if (!state || localStorage.getItem(`oidc.${state}`)) return
  try {
    const finished = await logins.finish()
    if (finished) history.replaceState(null, '', finished.returnTo)
  } catch (error) {
    // The user refused, or took too long: shows the start page instead of none.
    console.warn(error)
    history.replaceState(null, '', pathPrefix)
  }
}

/** Instead of `axios(options)`. */
export const request = (options) => axios(requests.authorized(options))

/** For a user who wants to open a URL: asks for what it lacks; false where stac-auth has nothing for it. */
export async function signIn(url) {
  if (await requests.open(url)) return true
  if (auth.credentials.needs().length === 0) return false
  element?.ask()
  return true
}

/** The `<stac-auth>` of the panel, once it is there. */
let element

const panel = document.createElement('details')
panel.style.cssText =
  'position: fixed; inset: auto 1rem 1rem auto; z-index: 1100; box-sizing: border-box; max-width: min(32rem, calc(100vw - 2rem)); max-height: calc(100vh - 2rem); overflow: auto; padding: 0.5rem 1rem; border: 1px solid; border-radius: 0.5rem; background: Canvas; color: CanvasText'

/** Adds the panel. Call it after the first page is shown. */
export async function mount() {
  const { defineStacAuth } = await import('stac-auth/element')
  defineStacAuth()
  const summary = document.createElement('summary')
  const asked = document.createElement('div')
  // The element takes the width that it gets.
  asked.style.width = 'min(28rem, calc(100vw - 4rem))'
  element = Object.assign(document.createElement('stac-auth'), { auth, logins })
  element.addEventListener('stac-auth-asking', ({ detail }) => {
    panel.open = detail.asking
  })
  asked.append(element)
  const logout = Object.assign(document.createElement('button'), { textContent: 'Log out', type: 'button' })
  logout.onclick = () => {
    panel.open = false
    logins.logoutAll().catch(console.warn)
  }
  summary.onclick = (event) => {
    event.preventDefault()
    const isOpen = panel.open
    if (isOpen) element.decline()
    else element.ask()
    panel.open = !isOpen
  }
  const update = async () => {
    const status = await auth.status()
    const needs = auth.credentials.needs()
    const isUsed = status.some(({ state }) => state !== 'none') || auth.credentials.list().some(({ added }) => added)
    summary.textContent = needs.length > 0 ? 'Access is needed' : 'Access'
    asked.hidden = needs.length === 0
    logout.hidden = !isUsed
    panel.hidden = needs.length === 0 && !isUsed
  }
  auth.credentials.subscribe(({ kind }) => {
    update().catch(console.warn)
    if (kind === 'needed' || kind === 'met' || kind === 'refreshed') return
    requests.refresh()
    access.version++
  })
  panel.append(summary, asked, logout)
  document.body.append(panel)
  await update()
}
