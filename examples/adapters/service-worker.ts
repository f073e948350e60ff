import { bearer, createAuth } from 'stac-auth'
import { authorizeRequests, type WorkerScope } from 'stac-auth/adapters/service-worker'

/** The session of the site, whose cookie no script can read, gives the worker a token. */
const token = async () => (await fetch('/session/token', { method: 'POST' })).text()
const origin = new URL(location.href).searchParams.get('archive') ?? ''

authorizeRequests(self as unknown as WorkerScope, createAuth({ credentials: [bearer(token, origin)] }), console.error)
