/** What `stac-auth/node` promises to callers. */
import { createAuth, memoryStore, type SessionStore } from 'stac-auth'
import {
  credentialsFromEnvironment,
  credentialsFromFile,
  loopbackRedirect,
  openBrowser,
  tokenFiles,
  tokenKeyring,
  undiciTransport,
} from 'stac-auth/node'
import { expectTypeOf } from 'vitest'

expectTypeOf(credentialsFromFile).toBeFunction()
expectTypeOf(credentialsFromEnvironment).toBeFunction()
expectTypeOf(undiciTransport).toBeFunction()

// They fit where they are used.
export const auth = createAuth({
  credentials: [await credentialsFromFile('credentials.json'), credentialsFromEnvironment()],
  transport: undiciTransport(),
})

export const stores: readonly SessionStore[] = [
  memoryStore(),
  tokenFiles(),
  tokenFiles({ folder: '/var/lib/app/tokens', onWarning: ({ code, message }) => console.warn(code, message) }),
  tokenKeyring({ folder: '/var/lib/app/tokens' }),
]

export const loggedIn: Promise<void> = auth.login('ada', { redirect: loopbackRedirect({ show: openBrowser }) })
