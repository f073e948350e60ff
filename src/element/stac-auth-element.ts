/** The custom element `<stac-auth>`: its properties, its events, and when it updates. */
import type { Auth, CredentialStatus } from '../auth/auth.ts'
import type { LiveCredentials } from '../browser/live-auth.ts'
import type { Logins } from '../browser/logins.ts'
import { isAuthError } from '../errors.ts'
import { kindOf } from '../stac/document.ts'
import { type Target, type TargetOptions, targetsOf } from '../stac/target.ts'
import { Asking } from './asking.ts'
import { type Needs, needsOf, type Provider, wantedOf } from './needs.ts'
import { groupNode, type Panel, panelIn } from './panel.ts'
import { problemNode, stateOf } from './provider-facts.ts'
import type { ProviderView, ViewContext } from './provider-view.ts'
import { english, type Strings, stringsFor } from './strings.ts'

/** The engine of the element, as `createLiveAuth` returns it. */
export interface ElementAuth extends Pick<Auth, 'explain' | 'authorize' | 'status' | 'logout'> {
  /** Its credentials, as those of `createLiveAuth`. */
  readonly credentials: Omit<LiveCredentials, 'logoutAll' | 'typed' | 'close'>
}

/** A client that the page has registered with a provider, so that users need not type its id. */
export interface LoginClient {
  /** The issuer of the provider, as in its discovery document. */
  readonly issuer: string
  /** The client id at that provider (RFC 6749 §2.2). */
  readonly clientId: string
  /** The scopes to request; default: those of the scheme. */
  readonly scopes?: readonly string[]
}

/**
 * `checking`: there is no document or no first result yet; `open`: nothing is protected; `ready`: nothing is missing; `needed`: the user
 * can provide what is missing; `unsupported`: a page cannot provide what is missing; `failed`: the requirements could not be determined.
 */
export type AccessState = 'checking' | 'open' | 'ready' | 'needed' | 'unsupported' | 'failed'

/** Properties that a page may have set before the element was defined. */
const PROPERTIES = [
  'auth',
  'target',
  'document',
  'url',
  'parents',
  'typed',
  'logins',
  'watchClosing',
  'atProvider',
  'clients',
  'strings',
  'locale',
] as const

/** The name of a property that a page may set. */
export type StacAuthProperty = (typeof PROPERTIES)[number]

/** Node has no `HTMLElement`, but the module can be imported there. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/**
 * The custom element `<stac-auth>`.
 *
 * @example
 * const element = document.querySelector('stac-auth')
 * if (element) Object.assign(element, { auth, document: item })
 */
export class StacAuthElement extends Base {
  #auth: ElementAuth | undefined
  #target: Target | Iterable<Target> | undefined
  #document: object | undefined
  #options: TargetOptions = {}
  #typed: readonly string[] = []
  #logins: Logins | undefined
  #clients: readonly LoginClient[] = []
  #replaced: Partial<Strings> = {}
  #locale: string | undefined

  #state: AccessState = 'checking'
  #strings: Strings = english
  #lang = 'en'
  /** True when requests lacked something before there were targets. */
  #wasAsked = false
  /** The replaced texts that are in `#strings`. */
  #applied: Partial<Strings> = this.#replaced
  /** True until an event has reported a result for the current engine and targets. */
  #isUntold = true
  #status: ReadonlyMap<string, CredentialStatus> = new Map()
  #views = new Map<string, ProviderView>()
  #View: typeof ProviderView | undefined
  #unsubscribe: (() => void) | undefined
  #work = new AbortController()
  #isScheduled = false
  /** The texts with which the groups were arranged. */
  #arranged: Strings | undefined
  #parts: Panel | undefined
  /** An error that was reported before the first result. */
  #early: unknown
  readonly #asking = new Asking((asking) => this.#tell('stac-auth-asking', { asking }))

  /** The engine of `createLiveAuth`. It sends requests without a credential where none can be used: the element asks when one is refused. */
  get auth(): ElementAuth | undefined {
    return this.#auth
  }
  set auth(auth: ElementAuth | undefined) {
    if (auth === this.#auth) return
    // `createAuth` returns an engine, too, but the user could add nothing to it.
    if (auth && !auth.credentials) throw new TypeError('auth must be created with createLiveAuth')
    this.#auth = auth
    this.#asking.begin(auth?.credentials)
    auth?.credentials.allowAnonymous()
    this.#subscribe()
    this.#ask()
  }

  /** The target or targets to request; without them, those of `document`. */
  get target(): Target | Iterable<Target> | undefined {
    return this.#target
  }
  set target(target: Target | Iterable<Target> | undefined) {
    this.#target = target
    this.#ask()
  }

  /** A parsed STAC document: all its targets are shown. */
  get document(): object | undefined {
    return this.#document
  }
  set document(document: object | undefined) {
    this.#document = document
    this.#ask()
  }

  /** URL from which `document` was read. */
  get url(): string | undefined {
    return this.#options.url
  }
  set url(url: string | undefined) {
    // Frameworks remove a value by undefined, null or '', whatever its type.
    this.#options = { ...this.#options, url: url || undefined } as TargetOptions
    this.#start()
  }

  /** Documents whose schemes the document may use, nearest first. */
  get parents(): readonly object[] | undefined {
    return this.#options.parents
  }
  set parents(parents: readonly object[] | undefined) {
    this.#options = { ...this.#options, parents: parents || undefined } as TargetOptions
    this.#start()
  }

  /** URLs that the user typed, as for `createAuth`: they may be loopback or private addresses. */
  get typed(): readonly string[] {
    return this.#typed
  }
  set typed(typed: readonly string[] | undefined) {
    this.#typed = typed || []
    this.#start()
  }

  /** The result of `createLogins`; without it, logins are not offered. */
  get logins(): Logins | undefined {
    return this.#logins
  }
  set logins(logins: Logins | undefined) {
    this.#logins = logins
    this.#start()
  }

  /**
   * False for providers whose pages sever the link to their opener (`Cross-Origin-Opener-Policy`): a login window that looks closed does
   * not end the login; only the user can cancel it. Attribute `watch-closing="false"`.
   */
  get watchClosing(): boolean {
    return this.getAttribute('watch-closing') !== 'false'
  }
  set watchClosing(watch: boolean) {
    if (watch === false) this.setAttribute('watch-closing', 'false')
    else this.removeAttribute('watch-closing')
  }

  /** True: a logout also logs the user out at the provider, where it supports that, and leaves the page. Attribute `at-provider`. */
  get atProvider(): boolean {
    return this.hasAttribute('at-provider')
  }
  set atProvider(isWanted: boolean) {
    this.toggleAttribute('at-provider', isWanted)
  }

  /** Clients registered with providers, whose ids users need not type. */
  get clients(): readonly LoginClient[] {
    return this.#clients
  }
  set clients(clients: readonly LoginClient[] | undefined) {
    this.#clients = clients || []
    this.#start()
  }

  /** Texts that replace those of the language. */
  get strings(): Partial<Strings> {
    return this.#replaced
  }
  set strings(strings: Partial<Strings> | undefined) {
    this.#replaced = strings || {}
    this.#start()
  }

  /** Language tag; default: the nearest `lang` attribute, else that of the page, else the language of the browser. */
  get locale(): string | undefined {
    return this.#locale
  }
  set locale(locale: string | undefined) {
    this.#locale = locale
    this.#start()
  }

  /** The state of access to the targets. */
  get state(): AccessState {
    return this.#state
  }

  /** True while requests lack something, unless the user does without it: for a page that shows the element only then. */
  get asking(): boolean {
    return this.#asking.isNeeded
  }

  /** The user does without what requests lack now: `asking` is false until something else is lacking, or this was there meanwhile. */
  decline(): void {
    this.#asking.decline()
  }

  /** The user wants to be asked for what was declined. */
  ask(): void {
    this.#asking.ask()
  }

  /** Called by the browser when the element is inserted into a document. */
  connectedCallback(): void {
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue
      const value: unknown = Reflect.get(this, name)
      Reflect.deleteProperty(this, name)
      Reflect.set(this, name, value)
    }
    this.#parts ??= panelIn(this.shadowRoot ?? this.attachShadow({ mode: 'open' }))
    this.#subscribe()
    this.#start()
  }

  /** Called by the browser when the element is removed from a document. */
  disconnectedCallback(): void {
    this.#unsubscribe?.()
    this.#work.abort()
    for (const view of this.#views.values()) view.close()
    this.#views.clear()
  }

  /** Shows why a request failed; errors that name no credential of this element are shown below the heading. */
  report(error: unknown): void {
    this.#early = this.#state === 'checking' && error
    const credential = isAuthError(error) ? error.credential : undefined
    for (const view of this.#views.values()) if (credential !== undefined && view.report(error, credential)) return
    this.#parts?.problem.replaceChildren(problemNode(error, this.#strings))
  }

  #subscribe(): void {
    this.#unsubscribe?.()
    if (!this.isConnected) return
    this.#unsubscribe = this.#auth?.credentials.subscribe((change) => {
      this.#asking.follow(change)
      if (change.kind !== 'needed') for (const view of this.#views.values()) view.forget(change.credential)
      this.#start()
    })
    this.#asking.update()
  }

  /**
   * Updates after a change of the engine or the targets. Not for lists and URLs: pages write a list in the template, which is another one at
   * each rendering, and an event for it would render again, without end.
   */
  #ask(): void {
    this.#isUntold = true
    this.#wasAsked = false
    this.#start()
  }

  /** Schedules an update after the current task, once for several changes. */
  #start(): void {
    if (this.#isScheduled || !this.isConnected) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      void this.#look()
    })
  }

  async #look(): Promise<void> {
    this.#work.abort()
    const { signal } = (this.#work = new AbortController())
    const auth = this.#auth
    const before = this.#state
    let failure: unknown
    try {
      const { lang: known, strings } = await stringsFor(this.#language())
      if (signal.aborted) return
      // Texts of the page are in the language of `locale`, even if the element has no texts of its own in that language.
      const lang = this.#locale && Object.keys(this.#replaced).length > 0 ? languageTag(this.#locale, known) : known
      if (lang !== this.#lang || this.#replaced !== this.#applied) this.#strings = { ...strings, ...this.#replaced }
      this.#lang = lang
      this.#applied = this.#replaced
      const targets = this.#target ? targetsIn(this.#target) : this.#document && targetsOf(this.#document, this.#options)
      // A document that is still loading is not shown as public.
      const isAsked = targets === undefined && auth !== undefined && auth.credentials.needs().length > 0
      if (!auth || !(targets || isAsked)) {
        this.#show({ groups: [] }, this.#wasAsked ? 'ready' : 'checking')
        if (this.#wasAsked && this.#state !== before) this.#tellState(undefined)
        return
      }
      this.#wasAsked = isAsked
      if (targets && !this.#target && !isDocument(this.#document)) throw (await import('./provider-view.ts')).notADocument()
      const described = await needsOf(targets ?? [], auth, { typed: this.#typed }, signal)
      const needs = { groups: [...described.groups, ...(await wantedOf(auth, described))] }
      const status = await auth.status()
      this.#status = new Map(status.map((one) => [one.credential, one]))
      // Not loaded by pages with public files only.
      if (needs.groups.length > 0) this.#View ??= (await import('./provider-view.ts')).ProviderView
      if (signal.aborted) return
      this.#show(needs, accessOf(needs))
    } catch (error) {
      if (signal.aborted) return
      this.#show({ groups: [] }, 'failed')
      this.#parts?.problem.replaceChildren(problemNode(error, this.#strings))
      failure = error
    }
    if (this.#isUntold || this.#state !== before) this.#tellState(failure)
  }

  #language(): string {
    // `closest` does not leave a shadow tree.
    return this.#locale || (this.closest<HTMLElement>('[lang]') ?? document.documentElement).lang || navigator.language
  }

  #show({ groups }: Needs, state: AccessState): void {
    const [parts, View] = [this.#parts, this.#View]
    if (!parts) return
    this.#state = state
    const strings = this.#strings
    const level = this.#headingLevel()
    // What was said is in the language of before.
    if (parts.panel.lang !== this.#lang) parts.said.textContent = ''
    parts.panel.lang = this.#lang
    parts.panel.setAttribute('aria-label', strings.title)
    parts.heading.setAttribute('aria-level', String(level))
    parts.heading.textContent = strings.title
    parts.summary.textContent = strings[state]
    parts.summary.className = `summary ${state}`
    parts.problem.replaceChildren()
    const context = this.#context(level, groups.flat())
    const kept = new Map<string, ProviderView>()
    const roots = groups.map((providers) => {
      return providers.flatMap((provider) => {
        if (!View) return []
        let key = provider.key
        while (kept.has(key)) key += ' again'
        const known = this.#views.get(key)
        const view = known ?? new View(provider, context)
        known?.update(provider, context)
        this.#views.delete(key)
        kept.set(key, view)
        return view.root
      })
    })
    for (const view of this.#views.values()) view.close()
    this.#views = kept
    this.#arrange(parts, roots)
    for (const { credential, error } of this.#auth?.credentials.needs() ?? [])
      for (const view of kept.values()) view.report(error, credential)
    // Now there may be a provider to show it at.
    if (this.#early) this.report(this.#early)
  }

  /** Arranges the providers in groups. Nodes are moved only when necessary, because moved nodes lose the focus. */
  #arrange({ groups, heading }: Panel, roots: readonly (readonly HTMLElement[])[]): void {
    const present = [...groups.querySelectorAll('[part="providers"]')].map((list) => [...list.children])
    const isSame = present.length === roots.length && roots.every((group, index) => isEqual(group, present[index] ?? []))
    if (isSame && this.#arranged === this.#strings) return
    this.#arranged = this.#strings
    const focused = this.shadowRoot?.activeElement
    groups.replaceChildren(...roots.map((items) => groupNode(items, this.#strings)))
    if (!focused || this.shadowRoot?.activeElement) return
    if (focused.isConnected) (focused as HTMLElement).focus()
    else heading.focus()
  }

  #context(headingLevel: number, providers: readonly Provider[]): ViewContext {
    return {
      auth: this.#auth as ElementAuth,
      logins: this.#logins,
      watchClosing: this.watchClosing,
      atProvider: this.atProvider,
      clients: this.#clients,
      strings: this.#strings,
      lang: this.#lang,
      headingLevel,
      ambiguous: this.#View?.ambiguousTitles(providers, this.#lang, this.#strings) ?? new Set(),
      status: this.#status,
      credentials: new Map(this.#auth?.credentials.list().map((one) => [one.id, one])),
      done: (text) => {
        if (this.#parts) this.#parts.said.textContent = text
        this.#start()
      },
      failed: (error) => this.#tell('stac-auth-error', { error }),
    }
  }

  #headingLevel(): number {
    const level = Number(this.getAttribute('heading-level'))
    return [1, 2, 3, 4].includes(level) ? level : 2
  }

  #tellState(error: unknown): void {
    this.#isUntold = false
    const state = this.#state
    if (state === 'failed') this.#tell('stac-auth-error', { error })
    else this.#tell(state === 'open' || state === 'ready' ? 'stac-auth-ready' : 'stac-auth-needed', { state })
  }

  #tell(name: keyof StacAuthEvents, detail: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }
}

/** The events of the element by name. */
export interface StacAuthEvents {
  /** Nothing is missing. */
  'stac-auth-ready': CustomEvent<{ readonly state: AccessState }>
  /** Something is missing. */
  'stac-auth-needed': CustomEvent<{ readonly state: AccessState }>
  /** Requests lack something, or no longer do. */
  'stac-auth-asking': CustomEvent<{ readonly asking: boolean }>
  /** An error, which the element also shows. */
  'stac-auth-error': CustomEvent<{ readonly error: unknown }>
}

declare global {
  interface HTMLElementTagNameMap {
    'stac-auth': StacAuthElement
  }
  interface GlobalEventHandlersEventMap extends StacAuthEvents {}
}

/**
 * Defines the element; a second call with the same name does nothing, nor does a call on a server. Use another name if `stac-auth` is taken.
 *
 * @example defineStacAuth()
 */
export function defineStacAuth(name = 'stac-auth'): void {
  if (!globalThis.HTMLElement || customElements.get(name)) return
  customElements.define(name, name === 'stac-auth' ? StacAuthElement : class extends StacAuthElement {})
}

/** Returns false for a response, a promise or the JSON of an error: they have no targets, but must not be shown as public. */
function isDocument(value: unknown): boolean {
  return kindOf(value) !== 'unknown' || 'links' in Object(value) || 'assets' in Object(value)
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((member, index) => member === other[index])
}

/** Returns the tag, or the other one if it is not well-formed. */
function languageTag(tag: string, other: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? other
  } catch {
    return other
  }
}

function targetsIn(target: Target | Iterable<Target>): Iterable<Target> {
  return Symbol.iterator in target ? target : [target]
}

function accessOf({ groups }: Needs): AccessState {
  if (groups.length === 0) return 'open'
  const states = groups.map((providers) => providers.map(stateOf))
  if (states.every((group) => group.includes('ready'))) return 'ready'
  const isHopeless = (state: string) => state === 'unsupported' || state === 'refused' || state === 'ready'
  return states.every((group) => group.every(isHopeless)) ? 'unsupported' : 'needed'
}
