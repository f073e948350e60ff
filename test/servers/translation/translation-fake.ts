/** The translation service on loopback, as strict as the real one could be. It knows nothing of the library: it is its judge. */
import { manualClock } from '../service/manual-clock.ts'
import { jsonReply } from '../service/reply.ts'
import type { ServiceDefinition } from '../service/service-definition.ts'
import { type Service, startService } from '../service/start-service.ts'
import { assetService } from './asset-service.ts'
import { authenticate } from './authenticate.ts'
import { inspectRequest } from './inspect-request.ts'
import { operations } from './operations.ts'
import { settingsOf, type TranslationFakeOptions } from './options.ts'
import { type Places, performers } from './performers.ts'
import { refuse } from './refuse.ts'
import { createState, type TranslationState } from './state.ts'
import { acceptVoiceSocket, VOICE_SOCKET_PATH } from './voice-socket.ts'

/** The service and its second origin. */
export interface TranslationFake extends Service {
  /** Recordings and voice sessions; has a log and rules of its own. Its violations count with the others. */
  readonly assets: Service
  /** Address of the second origin. */
  readonly assetUrl: string
  /** What the service remembers; another object after `reset`. */
  readonly state: TranslationState
}

/** Operations whose answers have no trace identifier by the public description. */
const WITHOUT_TRACE = new Set<number | string>([17, 19, 24, 45, 46, 47, 48])

/** Starts the service and its second origin, each on a free port of 127.0.0.1. */
export async function startTranslationFake(options: TranslationFakeOptions = {}): Promise<TranslationFake> {
  const settings = settingsOf(options)
  const { clock = manualClock() } = options
  const current = { state: createState(settings, clock, options.seed) }
  const violations: string[] = []
  const complain = (violation: string) => {
    if (options.strict !== false) violations.push(violation)
  }
  const { limiter: _, ...assetOptions } = options
  const assets = await startService(
    assetService(
      () => current.state,
      (request, socket, head) => acceptVoiceSocket(current.state, request, socket, head, complain),
    ),
    { ...assetOptions, clock, violations },
  )
  const places = { assets: assets.url, voice: assets.url.replace('http', 'ws') + VOICE_SOCKET_PATH }
  const service = await startService(definition(current, places, settings.traceEverywhere), { ...options, clock, violations })
  return withAssets(service, assets, current, () => createState(settings, clock, options.seed))
}

function withAssets(
  service: Service,
  assets: Service,
  current: { state: TranslationState },
  fresh: () => TranslationState,
): TranslationFake {
  const own: Omit<TranslationFake, keyof Service> & Pick<Service, 'reset' | 'assertClean' | 'close'> = {
    assets,
    assetUrl: assets.url,
    get state() {
      return current.state
    },
    reset() {
      service.reset()
      assets.reset()
      current.state = fresh()
    },
    assertClean() {
      service.assertClean()
      assets.assertClean()
    },
    async close() {
      await Promise.all([service.close(), assets.close()])
    },
  }
  return Object.create(service, Object.getOwnPropertyDescriptors(own))
}

function definition(current: { readonly state: TranslationState }, places: Places, traceEverywhere: boolean): ServiceDefinition {
  const byNumber = new Map<number | string, (typeof operations)[number]>(operations.map((operation) => [operation.op, operation]))
  const operationOf = (op: number | string) => byNumber.get(op) ?? refuse(404, 'Not found')
  return {
    routes: operations,
    credentialOf: ({ authorization }) => (authorization === undefined ? undefined : /^DeepL-Auth-Key (\S+)$/.exec(authorization)?.[1]),
    inspect: (request) => inspectRequest(request, operationOf(request.route.op), current.state.settings.allowExtra),
    perform(request) {
      const { state } = current
      const operation = operationOf(request.route.op)
      const key = authenticate(state, operation, request)
      const perform = performers[operation.op]
      return perform ? perform({ state, operation, request, key }, places) : refuse(404, 'Not found')
    },
    failure: (status, message) => jsonReply(status, { message }),
    headersOf: (route) => {
      if (!traceEverywhere && route && WITHOUT_TRACE.has(route.op)) return undefined
      return { 'X-Trace-ID': current.state.ids.hex(32) }
    },
    forbiddenHeaders: ['x-api-key', 'cookie'],
    longestUrl: 8192,
  }
}
