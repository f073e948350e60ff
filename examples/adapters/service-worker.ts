import { bearer, createEngine } from 'stac-auth'
import { authorizeRequests, type WorkerScope } from 'stac-auth/adapters/service-worker'
import { simpleHttp } from 'stac-auth/strategies'

/** The session of the site, whose cookie no script can read, gives the worker a token. */
const token = async () => {
  const response = await fetch('/session/token', { method: 'POST' })
  if (!response.ok) throw new Error(`/session/token answered ${response.status}`)
  return response.text()
}
const origin = new URL(location.href).searchParams.get('archive') ?? ''

/** With all strategies the worker would be more than three times as large. */
const auth = createEngine({ credentials: [bearer(token, origin)], strategies: [simpleHttp] })
authorizeRequests(self as unknown as WorkerScope, auth, console.error)
