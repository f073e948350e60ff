/** The time-tracking service on loopback, as strict as the real one could be. It knows nothing of the library: it is its judge. */
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { manualClock } from '../service/manual-clock.ts'
import { jsonReply } from '../service/reply.ts'
import type { Route } from '../service/routes.ts'
import type { ServiceDefinition } from '../service/service-definition.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { type Service, startService } from '../service/start-service.ts'
import { failure } from './answers.ts'
import { authenticate } from './authenticate.ts'
import { performOn } from './collections.ts'
import { login } from './login.ts'
import type { TimeTrackingFakeOptions } from './options.ts'
import { createState, type TimeTrackingState } from './state.ts'

/** The service; its base addresses are `/v1` and `/api/v1` below `url`. */
export interface TimeTrackingFake extends Service {
  /** `<url>/v1`. */
  readonly base: string
  /** The unencrypted port: it refuses every request, and each of them is a violation. */
  readonly plain: Service
  /** What the service remembers; another object after `reset`. */
  readonly state: TimeTrackingState
}

/** Starts the service with the certificate of the test authority, and its unencrypted port, each on a free port of 127.0.0.1. */
export async function startTimeTrackingFake(options: TimeTrackingFakeOptions = {}): Promise<TimeTrackingFake> {
  const { clock = manualClock(), insecure = false } = options
  const current = { state: createState(options, clock), url: '' }
  const violations: string[] = []
  const certified = { key: tlsFile('server.key'), cert: tlsFile('server.pem') }
  const common = { ...options, clock, violations, ...(!insecure && { certified }) }
  const service = await startService(definition(current, options), common)
  const plain = await startService(refusesAll, { clock, violations })
  current.url = service.url
  const own: Omit<TimeTrackingFake, keyof Service> & Pick<Service, 'reset' | 'close'> = {
    base: `${service.url}/v1`,
    plain,
    get state() {
      return current.state
    },
    reset() {
      service.reset()
      plain.reset()
      current.state = createState(options, clock)
    },
    async close() {
      await Promise.all([service.close(), plain.close()])
    },
  }
  return Object.create(service, Object.getOwnPropertyDescriptors(own))
}

const refusesAll: ServiceDefinition = {
  routes: [],
  credentialOf: () => undefined,
  perform: () => jsonReply(403, {}),
  failure: () => jsonReply(403, { status: 403, message: 'HTTPS required' }),
  forbiddenHeaders: [],
}

function definition(
  current: { readonly state: TimeTrackingState; readonly url: string },
  options: TimeTrackingFakeOptions,
): ServiceDefinition {
  const { tokenField = 'bearer' } = options
  return {
    routes: ROUTES,
    credentialOf: (headers) => tokenOf(headers, tokenField),
    inspect,
    perform(request) {
      const { state } = current
      const { op } = request.route
      if (op === 'login') return login(state, request)
      const token = authenticate(state, request)
      if (op !== 'revoke') return performOn(state, collectionOf(request), request, current.url)
      state.tokens.delete(token)
      return { status: 200, body: '' }
    },
    failure: (status, message) => failure(current.state.switches, status, message),
    forbiddenHeaders: ['cookie', 'x-api-key', tokenField === 'x-api-token' ? 'authorization' : 'x-api-token'],
  }
}

/** Every path has the three verbs of the service, so that others are told of them; what is not there says so itself. */
function routesOf(base: string): Route[] {
  const named = ['projects', 'customers', '{collection}'].flatMap((name) => {
    const op = (action: string) => (name === '{collection}' ? action : `${name}.${action}`)
    const collection = `${base}/${name}`
    return [
      { op: op('list'), method: 'GET', path: collection },
      { op: op('create'), method: 'POST', path: collection },
      { op: op('none'), method: 'DELETE', path: collection },
      { op: op('get'), method: 'GET', path: `${collection}/{id}` },
      { op: op('update'), method: 'POST', path: `${collection}/{id}` },
      { op: op('delete'), method: 'DELETE', path: `${collection}/{id}` },
    ]
  })
  return [{ op: 'login', method: 'POST', path: `${base}/auth` }, { op: 'revoke', method: 'GET', path: `${base}/auth/revoke` }, ...named]
}

const ROUTES = ['/v1', '/api/v1'].flatMap(routesOf)

function collectionOf({ route, params }: ServiceRequest): string {
  return params.collection ?? String(route.op).replace(/\..*$/, '')
}

function tokenOf(headers: IncomingHttpHeaders, field: NonNullable<TimeTrackingFakeOptions['tokenField']>): string | undefined {
  const value = field === 'x-api-token' ? headers['x-api-token'] : headers.authorization
  if (typeof value !== 'string') return undefined
  return field === 'bearer' ? /^Bearer (\S+)$/.exec(value)?.[1] : /^\S+$/.exec(value)?.[0]
}

/** The token stands in its field and nowhere else. */
function inspect({ credential, rawUrl, body }: ServiceRequest): readonly string[] {
  if (credential === undefined || credential.length < 8) return []
  return [
    ...(rawUrl.includes(credential) ? ['the token in the address'] : []),
    ...(body.includes(credential) ? ['the token in the body'] : []),
  ]
}

function tlsFile(name: string): string {
  return readFileSync(new URL(`../../../fixtures/tls/${name}`, import.meta.url), 'utf8')
}
