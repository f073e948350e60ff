/** The credentials of a live engine: the engine that is made anew with each change, the wallet that keeps them, and the other tabs. */
import type { Auth } from '../auth/auth.ts'
import { createAuth } from '../auth/create-auth.ts'
import { type Credential, type CredentialInput, type CredentialObject, type CredentialSet, flatten } from '../auth/credential.ts'
import { type EngineMemory, engineMemory, KeyedMutex, memoryStore, type SessionStore } from '../auth/session.ts'
import type { SessionChange } from '../auth/strategy.ts'
import { ConfigurationError, CredentialError, isAuthError } from '../errors.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { AddedCredentials } from './added-credentials.ts'
import { CredentialNeeds } from './credential-needs.ts'
import { patternsOf, summaryOf } from './credential-summary.ts'
import type {
  AddOptions,
  CredentialNeed,
  CredentialSummary,
  LiveAuthOptions,
  LiveChange,
  LiveCredentials,
  OfferedCredential,
} from './live-auth.ts'
import { openTabs, type TabMessage, type Tabs } from './tabs.ts'
import { type KeptCredential, type Wallet, walletOf } from './wallet.ts'

const KIND_OF = { started: 'login', refreshed: 'refreshed', removed: 'logout' } as const
const CHANGE_OF = { login: 'started', refreshed: 'refreshed', logout: 'removed' } as const

/** Milliseconds after which a page goes on whose provider does not answer to the logout of an earlier page. */
const ENDING_TIMEOUT = 5000

type Named = CredentialObject & { readonly id: string }

/** An engine with its number, in the order of creation. */
interface Engine {
  readonly auth: Auth
  readonly number: number
}

export class CurrentCredentials implements LiveCredentials {
  /** Resolves when the kept credentials are there, or cannot be read. */
  readonly restored: Promise<void>
  isRestored = false
  readonly #options: LiveAuthOptions
  readonly #session: SessionStore
  readonly #wallet: Wallet | undefined
  readonly #memory: EngineMemory
  readonly #listeners = new Set<(change: LiveChange) => void>()
  readonly #mutex = new KeyedMutex()
  readonly #hearing = new KeyedMutex()
  /** Number of logouts of everything, in this tab and in others. */
  #ended = 0
  /** What requests lacked. */
  readonly lacking: CredentialNeeds
  readonly #added: AddedCredentials
  /** The number of the last engine that had a removed credential: running requests of that engine and earlier ones no longer send it. */
  readonly #removedFrom = new Map<string, number>()
  /** Ids with a change from another tab, which has notified all tabs already. */
  readonly #echoed = new Set<string>()
  /** Ids of credentials and offers, the most preferred first. */
  readonly #preferred: readonly string[]
  #set: CredentialSet<Named>
  #engines = 0
  #engine: Engine
  #typed: readonly string[]
  #anonymous: LiveAuthOptions['anonymous']
  #tabs: Tabs | undefined

  constructor(options: LiveAuthOptions) {
    const { tabs = 'stac-auth', clock = { now: Date.now }, typed = [], offers = [], anonymous, session = memoryStore() } = options
    this.#options = options
    this.#session = session
    this.#wallet = walletOf(session)
    this.#typed = typed.map(originOf)
    this.#anonymous = anonymous
    const { credentials, preferred = [] } = withIds(flatten(options.credentials))
    this.#added = new AddedCredentials(this.#wallet, new Set(credentials.map(({ id }) => id)))
    this.#memory = { ...engineMemory(clock, options.minValidity), unstored: this.#added.unstored }
    this.#preferred = preferred
    this.lacking = new CredentialNeeds(options, preferred, {
      typed: () => this.#typed,
      has: (id) => this.#has(id),
      changed: (kind, credential) => this.#announce({ kind, credential, tab: 'this' }),
    })
    // An unknown id is an error of the engine.
    const isOffered = (id: string) => offers.some((offer) => offer.id === id) && !credentials.some((one) => one.id === id)
    this.#set = { credentials, preferred: preferred.filter((id) => !isOffered(id)) }
    this.#engine = this.#engineOf(this.#set)
    this.#tabs = tabs === false ? undefined : openTabs(tabs, (message) => void quietly(this.#heard(message)))
    this.restored = this.#restore()
  }

  /** The current engine. */
  get auth(): Auth {
    return this.#engine.auth
  }

  list(): readonly CredentialSummary[] {
    return this.#set.credentials.map((credential) => ({ ...summaryOf(credential), ...this.#added.factsOf(credential.id) }))
  }

  get keepsSecrets(): boolean {
    return this.#wallet?.keepsSecrets === true
  }

  async add(credential: CredentialInput, { keep = false }: AddOptions = {}): Promise<string> {
    await this.restored
    const id = credential.id ?? freeId(credential.type, (taken) => this.#has(taken))
    const given = { ...credential, id } as Named
    const isKnown = this.#has(id)
    await this.#replace(
      (all) => [...all.filter((one) => one.id !== id), given],
      isKnown ? id : undefined,
      (read) => this.#added.add(given, read, keep, () => quietly(this.auth.logout(id))),
    )
    this.#tell({ kind: isKnown ? 'changed' : 'added', credential: id })
    return id
  }

  async change(id: string, fields: Readonly<Record<string, unknown>>, options?: AddOptions): Promise<void> {
    await this.restored
    const known = this.#set.credentials.find((one) => one.id === id)
    if (!known) throw unknown(id)
    await this.add({ ...known, ...fields, id } as unknown as CredentialInput, options)
  }

  async allow(id: string, pattern: string): Promise<void> {
    await this.restored
    if (!this.#has(id)) throw unknown(id)
    const wider = <C extends CredentialObject>(one: C) => ({ ...one, sendTo: [...patternsOf(one), pattern] })
    await this.#replace((all) => all.map((one) => (one.id === id ? wider(one) : one)))
    await this.#added.change(id, (entry) => entry && { ...entry, credential: wider(entry.credential) })
    // To other tabs a change of what is not kept is a secret that they do not have.
    if (this.#added.isKept(id)) this.#tabs?.send({ kind: 'changed', credential: id })
    this.#changed({ kind: 'changed', credential: id, tab: 'this' })
  }

  async remove(id: string): Promise<void> {
    await this.restored
    if (!this.#has(id)) return
    const last = this.#engineOf(this.#set, new Set())
    await this.#replace((all) => all.filter((one) => one.id !== id), id)
    const wasKept = this.#added.isKept(id)
    this.#added.drop(id)
    // Before its tokens: without a credential they are removed at the next start, should this page be closed now.
    const failure = await this.#added.change(id, () => undefined)
    this.#tell({ kind: 'removed', credential: id })
    await withoutLogin(last.auth.logout(id)).finally(() => this.#forgetGone(id))
    if (wasKept && failure !== undefined) throw failure
  }

  /** The user may have added another one with that id meanwhile. */
  #forgetGone(id: string): void {
    if (!this.#has(id)) this.forget(id)
  }

  /**
   * Logs in, unless everything is logged out or the credential is removed meanwhile. Errors: `LOGIN_REQUIRED`, those of `Auth.login`.
   */
  async login(...[id, interaction, how]: Parameters<Auth['login']>): Promise<void> {
    await this.restored
    const [set, began] = [this.#set, await this.#endings()]
    await this.auth.login(id, interaction, how)
    const isRemoved = !this.#has(id)
    if (!isRemoved && began === (await this.#endings())) return
    await this.#engineOf(set, new Set()).auth.logout(id)
    if (isRemoved) await this.#added.change(id, () => undefined)
    const by = isRemoved ? 'the removal of the credential' : 'a logout of everything'
    throw new CredentialError('LOGIN_REQUIRED', `the login for "${id}" was ended by ${by}`, { credential: id })
  }

  /** Returns the number of logouts of everything. Messages of other tabs may be late: a store that they share has it at once. */
  async #endings(): Promise<number> {
    const stored = this.#session.shared ? await quietly(this.#wallet?.endings()) : undefined
    return stored?.number ?? this.#ended
  }

  async logoutAll({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.restored
    this.#ended++
    await quietly(this.#wallet?.setEnding(true))
    this.#tell({ kind: 'ended', credential: '' })
    await this.#end(signal)
  }

  /** Errors: the first one, after all sessions were ended. */
  async #end(signal?: AbortSignal): Promise<void> {
    /** Of revocations, and of what is stored here. */
    const [failures, own]: [unknown[], unknown[]] = [[], []]
    const tried = (work: Promise<void>, errors = failures) => work.catch((error: unknown) => void errors.push(error))
    const how = signal ? { signal } : {}
    for (const { id } of this.#set.credentials) this.forget(id)
    // Also those without a token: a request in another tab may be obtaining one, and the store lets this one wait for it.
    await Promise.all((await this.auth.status()).map(({ credential }) => tried(this.auth.logout(credential, how))))
    const entries = await this.#wallet?.entries().catch((error: unknown) => {
      if (this.list().some(({ kept }) => kept)) own.push(error)
      return []
    })
    for (const { credential, sessions } of entries ?? []) {
      // The session of another page of the origin, with a credential that this one does not have.
      const other = async () => this.#engineOf({ credentials: [credential] }, new Set()).auth.logout(credential.id, how)
      if (!this.#has(credential.id) && sessions.length > 0) await tried(withoutLogin(other()))
      for (const key of sessions) await tried(this.#session.remove(key), own)
      const isLeft = (entry: KeptCredential | undefined) => entry?.by === 'user' && !entry.isSecret
      const failure = await this.#added.change(credential.id, (entry) => (entry && isLeft(entry) ? { ...entry, sessions: [] } : undefined))
      if (failure !== undefined) own.push(failure)
    }
    await this.#forgetSecrets('this')
    // What a provider did not revoke is gone from here: nothing is left to finish.
    if (own.length === 0) await quietly(this.#wallet?.setEnding(false))
    const [failure] = [...failures, ...own]
    if (failure !== undefined) throw failure
  }

  /** Forgets all tokens of this tab, and removes the credentials with a secret that the user added. */
  async #forgetSecrets(tab: LiveChange['tab']): Promise<void> {
    for (const { id } of this.#set.credentials) this.forget(id)
    const gone = this.#added.withSecret()
    // Takes effect for all of them before the first one is removed.
    for (const id of gone) this.#removedFrom.set(id, this.#engines)
    for (const id of gone) {
      if (!this.#has(id)) continue
      await this.#lose(id)
      this.#changed({ kind: 'removed', credential: id, tab })
    }
  }

  needs(): readonly CredentialNeed[] {
    return this.lacking.list()
  }

  offer(id: string): OfferedCredential | undefined {
    return this.lacking.offers.get(id)
  }

  allowAnonymous(): void {
    if (this.#anonymous === 'allow') return
    this.#anonymous = 'allow'
    this.#engine = this.#engineOf(this.#set)
  }

  typed(url: string): void {
    const origin = originOf(url)
    if (this.#typed.includes(origin)) return
    this.#typed = [...this.#typed, origin]
    this.#engine = this.#engineOf(this.#set)
  }

  subscribe(listener: (change: LiveChange) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#tabs?.close()
    this.#tabs = undefined
  }

  /** Removes the values of a credential from memory. */
  forget(id: string): void {
    this.#memory.sessions.forget(id)
  }

  #has(id: string): boolean {
    return this.#set.credentials.some((credential) => credential.id === id)
  }

  #engineOf(named: CredentialSet<Named>, given?: EngineMemory['removed']): Engine {
    const number = ++this.#engines
    const removed = given ?? { has: (id: string) => (this.#removedFrom.get(id) ?? 0) >= number }
    const onSession = (change: SessionChange) => {
      if (this.#echoed.has(change.credential)) return
      this.#options.onSession?.(change)
      this.#tell({ kind: KIND_OF[change.change], credential: change.credential })
    }
    const onUse = (credential: string, url: string) => {
      this.lacking.accepted(credential, url)
      this.#options.onUse?.(credential, url)
    }
    const { tabs: _tabs, offers: _offers, anonymous: _anonymous, ...options } = this.#options
    const auth = createAuth({
      ...options,
      ...(this.#anonymous && { anonymous: this.#anonymous }),
      credentials: named as CredentialSet,
      typed: this.#typed,
      session: this.#session,
      memory: { ...this.#memory, removed },
      onSession,
      onUse,
    })
    return { auth, number }
  }

  /**
   * Replaces the engine after the new credentials were validated.
   *
   * @param gone the credential that is replaced or removed
   * @param before called with the last credential, as it was read, before it is used
   */
  #replace(
    change: (credentials: readonly Named[]) => readonly Named[],
    gone?: string,
    before?: (added: Credential) => Promise<void>,
  ): Promise<void> {
    return this.#mutex.run('', async () => {
      const credentials = change(this.#set.credentials)
      const next = { credentials, preferred: this.#preferred.filter((id) => credentials.some((one) => one.id === id)) }
      let successor: Engine
      let [typed, anonymous] = [this.#typed, this.#anonymous]
      do {
        typed = this.#typed
        anonymous = this.#anonymous
        successor = this.#engineOf(next)
        await successor.auth.ready()
      } while (typed !== this.#typed || anonymous !== this.#anonymous)
      if (before) await before(await this.#read(next))
      this.#set = next
      this.#engine = successor
      if (gone === undefined) return
      this.#removedFrom.set(gone, successor.number - 1)
      this.forget(gone)
    })
  }

  /** Returns the last credential of the set, as the engine reads it. */
  async #read(set: CredentialSet<Named>): Promise<Credential> {
    const { readSet } = await import('./form-models.ts')
    return (await readSet(set, this.#options)).at(-1) as Credential
  }

  /** Adds the credentials in the wallet, and finishes what an earlier page left. */
  async #restore(): Promise<void> {
    const wallet = this.#wallet
    try {
      if (!wallet) return
      // A provider that does not answer must not keep public files waiting.
      if ((await wallet.endings()).isUnderWay) await quietly(this.#end(AbortSignal.timeout(ENDING_TIMEOUT)))
      await wallet.removeOrphans()
      let left = (await wallet.entries()).filter(({ by, credential }) => by === 'user' && !this.#has(credential.id))
      // One may name another one in `with`.
      for (let count = Number.POSITIVE_INFINITY; left.length > 0 && left.length < count; ) {
        count = left.length
        const refused: KeptCredential[] = []
        for (const entry of left) await this.#readd(entry).catch(() => refused.push(entry))
        left = refused
      }
      // Others are left as they are: they may be for another page of the origin, or their strategy could not be loaded now.
    } catch {
      // A browser without storage has kept nothing.
    } finally {
      this.isRestored = true
    }
  }

  /** Adds a credential from the wallet, or replaces it, unless the page gives it. Errors: `CONFIG_INVALID`. */
  async #readd({ credential: kept }: KeptCredential): Promise<void> {
    const { id } = kept
    if (this.#added.isOwn(id)) return
    const credential = await this.lacking.offers.asOffered(kept)
    const isKnown = this.#has(id)
    await this.#replace(
      (all) => [...all.filter((one) => one.id !== id), credential],
      isKnown ? id : undefined,
      async (read) => {
        // It may have been removed while its strategy was loaded.
        if (!(await this.#added.restore(id, read))) throw unknown(id)
      },
    )
    this.#changed({ kind: isKnown ? 'changed' : 'added', credential: id, tab: 'other' })
  }

  /** Notifies other tabs and the listeners of this tab. */
  #tell(message: TabMessage): void {
    this.#tabs?.send(message)
    this.#changed({ ...message, tab: 'this' })
  }

  /** Notifies listeners of a change after which a need begins anew. */
  #changed(change: LiveChange): void {
    this.lacking.end(change.credential)
    this.#announce(change)
  }

  #announce(change: LiveChange): void {
    for (const listener of [...this.#listeners]) {
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

  /** Removes the tokens of a credential from this tab; those in a shared store are removed by the tab that logged out. */
  async #forgetTokens(id: string, { auth }: Engine): Promise<void> {
    this.forget(id)
    const state = (await auth.status()).find(({ credential }) => credential === id)
    if (!state || (this.#session.shared && state.persistent)) return
    this.#echoed.add(id)
    await quietly(auth.logout(id, { revoke: false })).finally(() => this.#echoed.delete(id))
    this.forget(id)
  }

  /** Removes a credential that another tab removed, and those that cannot be used without it. */
  async #lose(id: string): Promise<void> {
    for (const { id: dependent } of this.#set.credentials.filter((one) => one.with === id || one.subject === id)) {
      await this.#lose(dependent)
      this.#changed({ kind: 'removed', credential: dependent, tab: 'other' })
    }
    const last = this.#engineOf(this.#set, new Set())
    // Takes effect before the tokens are removed.
    this.#removedFrom.set(id, this.#engines)
    await this.#replace((all) => all.filter((one) => one.id !== id), id)
    this.#added.drop(id)
    // The storage of a duplicated tab is its own.
    if (!this.#session.shared) await this.#added.change(id, () => undefined)
    await this.#forgetTokens(id, last)
  }

  /** In the order of the messages: what is removed must not be added by an earlier one. */
  #heard(message: TabMessage): Promise<void> {
    if (message.kind === 'ended') this.#ended++
    return this.#hearing.run('', () => this.#follow(message))
  }

  async #follow({ kind, credential }: TabMessage): Promise<void> {
    await this.restored
    const tab = 'other'
    if (kind === 'ended') {
      await this.#forgetSecrets(tab)
      for (const { id } of this.#set.credentials) await this.#forgetTokens(id, this.#engine)
    } else if (kind === 'added' || kind === 'changed') {
      const entry = (await quietly(this.#wallet?.entries()))?.find((one) => one.credential.id === credential && one.by === 'user')
      if (entry && (await quietly(this.#readd(entry).then(() => true)))) return
      // Only that tab has the new secret: the old one must not be sent any longer.
      if (kind === 'changed' && (this.#added.isKept(credential) || this.#added.withSecret().includes(credential))) {
        await this.#lose(credential)
        return this.#changed({ kind: 'removed', credential, tab })
      }
    } else if (this.#has(credential)) {
      const isHere = await this.#followTokens(kind, credential)
      if (kind in CHANGE_OF) this.#options.onSession?.({ credential, change: CHANGE_OF[kind as keyof typeof CHANGE_OF] })
      if (isHere) return this.#changed({ kind, credential, tab })
    }
    this.#announce({ kind, credential, tab })
  }

  /** Does what another tab did; false where its tokens are not those of this tab. */
  async #followTokens(kind: TabMessage['kind'], credential: string): Promise<boolean> {
    if (kind === 'removed') await this.#lose(credential)
    else if (kind === 'logout') await this.#forgetTokens(credential, this.#engine)
    else {
      const state = (await this.auth.status()).find((one) => one.credential === credential)
      // Tokens that are in memory only belong to this tab and stay.
      if (!this.#session.shared || !state?.persistent) return false
      // The token of another user may be in memory.
      if (kind === 'login') this.#memory.sessions.renew(credential)
    }
    return true
  }
}

/** Ignores that a credential has no login: then it has no tokens to revoke. */
async function withoutLogin(logout: Promise<void>): Promise<void> {
  await logout.catch((error: unknown) => {
    if (!isAuthError(error) || error.code !== 'CONFIG_INVALID') throw error
  })
}

/** Adds ids to credentials without one, as errors name them. */
function withIds({ credentials, ...set }: CredentialSet<CredentialObject>): CredentialSet<Named> {
  const named = credentials.map((one, index) => (one.id === undefined ? { ...one, id: `${one.type}-${index + 1}` } : one))
  return { ...set, credentials: named as readonly Named[] }
}

function freeId(type: string, isTaken: (id: string) => boolean): string {
  for (let number = 1; ; number++) if (!isTaken(`${type}-${number}`)) return `${type}-${number}`
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
async function quietly<Result>(work: Promise<Result> | undefined): Promise<Result | undefined> {
  return work?.catch(() => undefined)
}
