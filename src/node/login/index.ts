/** Logins with the browser of this machine. */
export { loopbackRedirect } from './loopback-login.ts'
export { openBrowser } from './open-browser.ts'
