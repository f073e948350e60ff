import { authorizeRequests, type WorkerScope } from 'stac-auth/adapters/service-worker'
import { createLiveAuth, indexedDbStore } from 'stac-auth/browser'

/** Logins and kept credentials of the pages of this origin, until one of them logs out. Public files are read before a login as well. */
const auth = createLiveAuth({ credentials: [], session: indexedDbStore(), anonymous: 'allow' })
authorizeRequests(self as unknown as WorkerScope, auth, console.error)
