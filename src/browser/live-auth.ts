/**
 * An engine whose credentials the user adds, changes and removes while it runs, in all tabs of a page at once.
 * Users of the engine, such as a map hook or a client of a service, always use the current credentials.
 */
import type { Auth, AuthorizedCall, Service } from '../auth/auth.ts'
import { type AuthOptions, createAuth } from '../auth/create-auth.ts'
import { type CredentialInput, type CredentialObject, type CredentialSet, flatten } from '../auth/credential.ts'
import { type EngineMemory, engineMemory, KeyedMutex, memoryStore } from '../auth/session.ts'
import type { SessionChange } from '../auth/strategy.ts'
import { ConfigurationError, isAuthError } from '../errors.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { openTabs, type TabMessage } from './tabs.ts'

/** Options of `createLiveAuth`. */
export interface LiveAuthOptions extends AuthOptions {
  /**
   * Name of the channel that connects the tabs and workers of the origin; default: `stac-auth`. Credential ids must mean the same in all
   * tabs with the same name. `false`: this tab is not connected to others.
   */
  readonly tabs?: string | false
}

/** An engine with credentials that change while it runs. */
export interface LiveAuth extends Auth {
  /** Its credentials, which can be changed. */
  readonly credentials: LiveCredentials
}

/** A credential without its secrets. */
export interface CredentialSummary {
  /** Its id. */
  readonly id: string
  /** Type of its strategy. */
  readonly type: string
  /** The allowed URLs. */
  readonly sendTo: readonly string[]
  /** Further fields that are not secret: `scheme`, `flow`, `in`, `name`, `issuer`, `clientId`, endpoints, … */
  readonly [field: string]: unknown
}

/** A change of the credentials, as passed to listeners. */
export interface LiveChange {
  /** `login`, `refreshed` and `logout` are about tokens of the credential, the others about the credential itself. */
  readonly kind: TabMessage['kind']
  /** Id of the credential. */
  readonly credential: string
  /** The tab in which it happened. */
  readonly tab: 'this' | 'other'
}

/** The credentials of a running engine, which can be added, widened and removed. */
export interface LiveCredentials {
  /** Returns the current credentials without their secrets. */
  list(): readonly CredentialSummary[]
  /**
   * Adds a credential, or replaces the one with that id, and returns its id. Call it only for input of the user, never for the content of a
   * document.
   *
   * Errors: `CONFIG_INVALID` with the pointer of the field; then nothing has changed.
   */
  add(credential: CredentialInput): Promise<string>
  /**
   * Adds a URL pattern to `sendTo` of a credential. Call it only after the user agreed to send the credential there.
   *
   * Errors: `CONFIG_INVALID`; then nothing has changed.
   */
  allow(id: string, pattern: string): Promise<void>
  /**
   * Removes a credential in all tabs, with its tokens, which are revoked where the provider supports that. Running requests no longer send
   * it.
   *
   * Errors: those of the revocation, after the credential was removed.
   */
  remove(id: string): Promise<void>
  /**
   * Allows the origin of a URL that the user typed to be a loopback or private address.
   *
   * Errors: `CONFIG_INVALID`.
   */
  typed(url: string): void
  /** Calls the listener for each change in this tab or another one; returns a function that removes the listener. */
  subscribe(listener: (change: LiveChange) => void): () => void
  /** Ends the connection to other tabs. */
  close(): void
}

/** Fields that contain no secret; all others are left out of summaries. */
const PUBLIC = [
  'scheme',
  'flow',
  'in',
  'name',
  'use',
  'provider',
  'with',
  'subject',
  'issuer',
  'openIdConnectUrl',
  'authorizationUrl',
  'tokenUrl',
  'deviceAuthorizationUrl',
  'clientId',
  'scopes',
  'audience',
  'resource',
  'authorizationApi',
  'signedUrlHosts',
  'region',
  'endpoint',
]

const KIND_OF = { started: 'login', refreshed: 'refreshed', removed: 'logout' } as const
const CHANGE_OF = { login: 'started', refreshed: 'refreshed', logout: 'removed' } as const

type Named = CredentialObject & { readonly id: string }

/** An engine with its number, in the order of creation. */
interface Engine {
  readonly auth: Auth
  readonly number: number
}

/**
 * Creates an engine like `createAuth` whose credentials can change while it runs. Tokens are kept when another credential changes. All tabs
 * of the origin with the same channel are notified of each change, login, refresh and logout: after a logout or removal in one tab, no
 * other tab sends that token or credential again. Secrets are never sent through the channel: an added credential is used in this tab only,
 * its login in all tabs that share the token store (`indexedDbStore`).
 *
 * Errors: those of `createAuth`.
 *
 * @example
 * const auth = createLiveAuth({ credentials: [], session: indexedDbStore() })
 * await auth.credentials.add(bearer(token, 'https://data.example/'))
 * auth.credentials.subscribe(({ kind, credential }) => console.log(credential, kind))
 */
export function createLiveAuth({ tabs: name = 'stac-auth', ...options }: LiveAuthOptions): LiveAuth {
  const session = options.session ?? memoryStore()
  const memory = engineMemory(options.clock ?? { now: Date.now }, options.minValidity)
  const listeners = new Set<(change: LiveChange) => void>()
  const mutex = new KeyedMutex()
  let set = withIds(flatten(options.credentials))
  let engines = 0
  /** The number of the last engine that had a removed credential: running requests of that engine and earlier ones no longer send it. */
  const removedFrom = new Map<string, number>()
  /** Ids with a change from another tab, which has notified all tabs already. */
  const echoed = new Set<string>()
  let typed = (options.typed ?? []).map(originOf)
  let engine = engineOf(set)
  let tabs = name === false ? undefined : openTabs(name, (message) => void quietly(heard(message)))

  function engineOf(named: CredentialSet<Named>, given?: EngineMemory['removed']): Engine {
    const number = ++engines
    const removed = given ?? { has: (id: string) => (removedFrom.get(id) ?? 0) >= number }
    const onSession = (change: SessionChange) => {
      if (echoed.has(change.credential)) return
      options.onSession?.(change)
      tell({ kind: KIND_OF[change.change], credential: change.credential })
    }
    const own: EngineMemory = { ...memory, removed }
    const auth = createAuth({ ...options, credentials: named as CredentialSet, typed, session, memory: own, onSession })
    return { auth, number }
  }

  /** Notifies other tabs and the listeners of this tab. */
  function tell(message: TabMessage): void {
    tabs?.send(message)
    announce({ ...message, tab: 'this' })
  }

  function announce(change: LiveChange): void {
    for (const listener of [...listeners]) {
      try {
        listener(change)
      } catch (error) {
        // An error of one listener is reported to the page; it does not affect other listeners or the caller.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  const has = (id: string) => set.credentials.some((credential) => credential.id === id)

  /** Replaces the engine after the new credentials were validated. */
  function replace(change: (credentials: readonly Named[]) => readonly Named[], gone?: string): Promise<void> {
    return mutex.run('', async () => {
      const credentials = change(set.credentials)
      const preferred = set.preferred?.filter((id) => credentials.some((one) => one.id === id))
      const next = { credentials, ...(preferred && { preferred }) }
      let successor: Engine
      let asked: readonly string[]
      do {
        asked = typed
        successor = engineOf(next)
        await successor.auth.ready()
      } while (asked !== typed)
      set = next
      engine = successor
      if (gone === undefined) return
      removedFrom.set(gone, successor.number - 1)
      memory.sessions.forget(gone)
    })
  }

  /** Removes the tokens of a credential from this tab; those in a shared store are removed by the tab that logged out. */
  async function forgetTokens(id: string, { auth }: Engine): Promise<void> {
    memory.sessions.forget(id)
    const state = (await auth.status()).find(({ credential }) => credential === id)
    if (!state || (session.shared && state.persistent)) return
    echoed.add(id)
    await quietly(auth.logout(id, { revoke: false })).finally(() => echoed.delete(id))
    memory.sessions.forget(id)
  }

  /** Removes a credential that another tab removed, and those that cannot be used without it. */
  async function lose(id: string): Promise<void> {
    for (const { id: dependent } of set.credentials.filter((one) => one.with === id || one.subject === id)) {
      await lose(dependent)
      announce({ kind: 'removed', credential: dependent, tab: 'other' })
    }
    const last = engineOf(set, new Set())
    // Takes effect before the tokens are removed.
    removedFrom.set(id, engines)
    await replace((all) => all.filter((one) => one.id !== id), id)
    await forgetTokens(id, last)
  }

  async function heard({ kind, credential }: TabMessage): Promise<void> {
    if (has(credential)) {
      if (kind === 'removed') await lose(credential)
      else if (kind === 'logout') await forgetTokens(credential, engine)
      else if (kind === 'login' && session.shared) {
        const state = (await engine.auth.status()).find((one) => one.credential === credential)
        // The token of another user may be in memory. Tokens that are in memory only belong to this tab and stay.
        if (state?.persistent) memory.sessions.forget(credential)
      }
      if (kind in CHANGE_OF) options.onSession?.({ credential, change: CHANGE_OF[kind as keyof typeof CHANGE_OF] })
    }
    announce({ kind, credential, tab: 'other' })
  }

  const credentials: LiveCredentials = {
    list: () => set.credentials.map(summaryOf),
    add: async (credential) => {
      const id = credential.id ?? freeId(credential.type, has)
      const known = has(id)
      await replace((all) => [...all.filter((one) => one.id !== id), { ...credential, id } as Named], known ? id : undefined)
      tell({ kind: known ? 'changed' : 'added', credential: id })
      return id
    },
    allow: async (id, pattern) => {
      if (!has(id)) throw unknown(id)
      await replace((all) => all.map((one) => (one.id === id ? { ...one, sendTo: [...patternsOf(one), pattern] } : one)))
      tell({ kind: 'changed', credential: id })
    },
    remove: async (id) => {
      if (!has(id)) return
      const last = engineOf(set, new Set())
      await replace((all) => all.filter((one) => one.id !== id), id)
      tell({ kind: 'removed', credential: id })
      try {
        await last.auth.logout(id)
      } catch (error) {
        // A credential without a login has no tokens to revoke.
        if (!isAuthError(error) || error.code !== 'CONFIG_INVALID') throw error
      } finally {
        memory.sessions.forget(id)
      }
    },
    typed: (url) => {
      const origin = originOf(url)
      if (typed.includes(origin)) return
      typed = [...typed, origin]
      engine = engineOf(set)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => {
      tabs?.close()
      tabs = undefined
    },
  }

  const forget = (credential: string) => memory.sessions.forget(credential)
  return { credentials, ...withCurrent(() => engine.auth, forget) }
}

/** Returns an engine that forwards each call to the current engine. */
function withCurrent(current: () => Auth, forget: (credential: string) => void): Auth {
  return {
    authorize: (target, how) => current().authorize(target, how),
    fetch: (target, init) => current().fetch(target, init),
    send: (request, how) => current().send(request, how),
    fetchFor: (target) => (input, init) => current().fetchFor(target)(input, init),
    service: async (base) => liveService(current, base, await current().service(base)),
    ready: () => current().ready(),
    peek: (target) => current().peek(target),
    explain: (target) => current().explain(target),
    login: (credential, interaction, how) => current().login(credential, interaction, how),
    logout: (credential, how) =>
      current()
        .logout(credential, how)
        .finally(() => forget(credential)),
    status: () => current().status(),
  }
}

/** Returns the service of a base URL, always with the current credential. */
function liveService(current: () => Auth, base: string, first: Service): Service {
  let known = { auth: current(), service: first }
  const now = async () => {
    const auth = current()
    if (auth !== known.auth) known = { auth, service: await auth.service(base) }
    return known.service
  }
  return {
    get credential() {
      return known.service.credential
    },
    get allowPrivateNetwork() {
      return known.service.allowPrivateNetwork
    },
    peek: (request) => (known.auth === current() ? known.service.peek(request) : undefined),
    send: async (request, send, call?: AuthorizedCall) => (await now()).send(request, send, call),
  }
}

/** Adds ids to credentials without one, as errors name them. */
function withIds({ credentials, ...set }: CredentialSet<CredentialObject>): CredentialSet<Named> {
  const named = credentials.map((one, index) => (one.id === undefined ? { ...one, id: `${one.type}-${index + 1}` } : one))
  return { ...set, credentials: named as readonly Named[] }
}

function freeId(type: string, isTaken: (id: string) => boolean): string {
  for (let number = 1; ; number++) if (!isTaken(`${type}-${number}`)) return `${type}-${number}`
}

function summaryOf(credential: Named): CredentialSummary {
  const { id, type } = credential
  const fields = PUBLIC.flatMap((name) => (credential[name] === undefined ? [] : [[name, credential[name]] as const]))
  return { id, type, sendTo: patternsOf(credential), ...Object.fromEntries(fields) }
}

function patternsOf({ sendTo = [] }: CredentialObject): readonly string[] {
  return typeof sendTo === 'string' ? [sendTo] : sendTo
}

/** Returns the origin, or the URL if it has none. `localhost:5173` would be a URL with the scheme `localhost:`, which allows nothing. */
function originOf(url: string): string {
  if (!canParseUrl(url) || /^[^/:]+:\d/.test(url))
    throw new ConfigurationError('CONFIG_INVALID', 'typed must be absolute URLs such as http://localhost:5173/')
  const { origin } = new URL(url)
  return origin === 'null' ? url : origin
}

function unknown(id: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `there is no credential "${id}"`)
}

/** Waits for work and ignores its errors, after which this tab has nothing left to do. */
async function quietly(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined)
}
