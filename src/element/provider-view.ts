/** The view of one provider: its requirements, form, consent, login and logout. */
import type { CredentialStatus } from '../auth/auth.ts'
import { credentialFrom, type FormModel, formOfCredential } from '../browser/credential-form.ts'
import type { CredentialSummary } from '../browser/live-auth.ts'
import type { Logins } from '../browser/logins.ts'
import { ConfigurationError, isAuthError } from '../errors.ts'
import { choiceNode, consentNodes, questionNode } from './consent.ts'
import { fieldsOf, formNode, type Typed, withoutSecrets } from './credential-fields.ts'
import { actions, button, type Child, element, icon, isolated, sentence } from './dom.ts'
import type { Provider } from './needs.ts'
import { ambiguousTitles, askedNode, detailsNode, nameNode, problemNode, quoteNode, sitesNode, stateOf, titleOf } from './provider-facts.ts'
import type { ElementAuth, LoginClient } from './stac-auth-element.ts'
import { filled, type Strings, timeInWords } from './strings.ts'

/** The parts of the element that a view uses. */
export interface ViewContext {
  readonly auth: ElementAuth
  readonly logins: Logins | undefined
  /** False where the provider's pages sever the link to their opener. */
  readonly watchClosing: boolean
  /** True where a logout also ends the session at the provider. */
  readonly atProvider: boolean
  readonly clients: readonly LoginClient[]
  readonly strings: Strings
  readonly lang: string
  readonly headingLevel: number
  /** Titles of several providers: the names of their schemes are shown, too. */
  readonly ambiguous: ReadonlySet<string>
  readonly status: ReadonlyMap<string, CredentialStatus>
  /** The credentials by id; the element can remove those that the user added. */
  readonly credentials: ReadonlyMap<string, CredentialSummary>
  /** Announces a result to screen readers, and updates the element. */
  done(text: string): void
  failed(error: unknown): void
}

/** The current step of the person with the provider. */
type Mode = 'summary' | 'form' | 'consent' | 'widen' | 'waiting'

let views = 0

/** Milliseconds; browsers call a later timer at once. */
const MAX_TIMER = 2 ** 31 - 1

export class ProviderView {
  /** Here, because it is loaded with the views only. */
  static readonly ambiguousTitles = ambiguousTitles

  readonly root = element('li', { part: 'provider' })
  readonly #id = `provider-${++views}`
  #provider: Provider
  #context: ViewContext
  #mode: Mode = 'summary'
  /** Typed values between the form and the consent. */
  #typed: Typed = {}
  /** The credential whose secret is typed again, and its own form: that of the catalog may ask for other fields. */
  #again: { readonly id: string; readonly model: FormModel } | undefined
  /** True where the person wants to keep what was typed. */
  #keep = false
  #error: unknown
  /** The facts that are shown. */
  #facts = ''
  #login: AbortController | undefined
  /** Updates the element when a token without a refresh token expires. */
  #expiry: ReturnType<typeof setTimeout> | undefined

  constructor(provider: Provider, context: ViewContext) {
    this.#provider = provider
    this.#context = context
    this.#render()
  }

  /** Shows the current requirements. A form that is being filled in and a pending login stay, unless their requirements have changed. */
  update(provider: Provider, context: ViewContext): void {
    const before = this.#provider
    const isKept =
      this.#mode === 'summary'
        ? this.#facts === factsOf(provider, context)
        : this.#mode === 'waiting'
          ? provider.login === before.login
          : questionOf(provider) === questionOf(before)
    const isSame = isKept && context.strings === this.#context.strings
    this.#provider = provider
    this.#context = context
    if (!isSame) this.#show('summary', stateOf(provider) === stateOf(before) ? this.#error : undefined)
  }

  /** Shows why a request with this credential failed, if the provider uses it. */
  report(error: unknown, credential: string): boolean {
    if (!this.#uses(credential)) return false
    if (this.#error === error) return true
    // A pending login stays the only one, and what the user types is not lost: both may repair what is reported.
    if (this.#mode !== 'summary') return true
    this.#show('summary', error)
    // The token may have expired since the last update.
    this.#context.done('')
    return true
  }

  /** Forgets an error of a credential that has changed; the next update shows that. */
  forget(credential: string): void {
    if (!this.#uses(credential)) return
    this.#error = undefined
    this.#facts = ''
  }

  #uses(credential: string): boolean {
    const { ready, login } = this.#provider
    return ready.includes(credential) || login === credential
  }

  /** Discards typed values and aborts a login. */
  close(): void {
    this.#login?.abort()
    clearTimeout(this.#expiry)
    this.#typed = {}
    this.#mode = 'summary'
    this.root.replaceChildren()
  }

  /** Replaces the content; a focus inside moves to the first control. */
  #show(mode: Mode, error?: unknown): void {
    const hadFocus = this.root.contains((this.root.getRootNode() as Partial<ShadowRoot>).activeElement ?? null)
    if (mode === 'summary') {
      this.#typed = {}
      this.#keep = false
      this.#again = undefined
    }
    this.#mode = mode
    this.#error = error
    this.#render()
    if (hadFocus) this.#focus()
  }

  /**
   * Focuses the first field or the question. Without them, focuses the title instead of a button, because the next button may undo the last
   * action.
   */
  #focus(): void {
    const first = this.root.querySelector<HTMLElement>('form [part~="question"], form :is(input, select, textarea)')
    const place = first ?? this.root.querySelector<HTMLElement>('[role="heading"]')
    place?.focus()
  }

  /** Updates the element when the first token without a refresh token expires. */
  #awaitExpiry(): void {
    clearTimeout(this.#expiry)
    const { status, done } = this.#context
    const left = this.#provider.ready.flatMap((id) => {
      const { expiresAt, refreshable } = status.get(id) ?? {}
      const ms = expiresAt === undefined || refreshable ? 0 : Date.parse(expiresAt) - Date.now()
      return ms > 0 ? [ms + 1000] : []
    })
    const first = Math.min(...left)
    if (first <= MAX_TIMER) this.#expiry = setTimeout(() => done(''), first)
    else if (left.length > 0) this.#expiry = setTimeout(() => this.#awaitExpiry(), MAX_TIMER)
  }

  #render(): void {
    this.#facts = factsOf(this.#provider, this.#context)
    this.#awaitExpiry()
    const { strings, lang, headingLevel } = this.#context
    const provider = this.#provider
    const state = this.#has('AUTH_REJECTED') ? 'refused' : this.#ended() ? 'login' : stateOf(provider)
    const { description } = provider.model ?? {}
    const title = element('div', { role: 'heading', 'aria-level': String(headingLevel + 1), id: this.#id, tabindex: '-1', part: 'title' })
    title.append(titleOf(provider, lang, strings))
    const name = isAmbiguous(provider, this.#context) ? nameNode(provider, `${this.#id}-name`, strings) : undefined
    const labels = name ? `${this.#id} ${name.id}` : this.#id
    this.root.setAttribute('aria-labelledby', labels)
    this.root.replaceChildren(
      element(
        'div',
        { class: 'head', part: 'head' },
        title,
        element(
          'span',
          { part: `state state-${state}`, class: `badge ${state}` },
          icon(state === 'ready' ? 'ready' : state === 'unsupported' || state === 'refused' ? 'warning' : 'lock'),
          strings[`state.${state}`],
        ),
      ),
      ...[
        name,
        provider.count > 0 && element('p', { class: 'muted', part: 'files' }, filled(strings.files, { count: provider.count })),
        this.#mode !== 'consent' && state !== 'refused' && askedNode(provider, lang, strings),
        description !== undefined && quoteNode(description, strings),
        provider.parties && stateOf(provider) !== 'unsupported' && sitesNode(provider.parties, strings),
        ...this.#body(),
        this.#error !== undefined && problemNode(this.#error, strings),
        detailsNode(provider, strings),
      ].filter((child) => child !== undefined && child !== false),
    )
    // Several providers have buttons of the same name.
    for (const one of this.root.querySelectorAll('button, summary')) one.setAttribute('aria-describedby', labels)
  }

  #body(): readonly Child[] {
    const { model, widen } = this.#provider
    const asked = this.#again?.model ?? model
    if (asked && this.#mode === 'form') return [this.#form(asked)]
    if (model && this.#mode === 'consent') return [this.#consent(model)]
    if (widen && this.#mode === 'widen') return [this.#widening(widen)]
    if (this.#mode === 'waiting') return this.#waiting()
    return this.#summary()
  }

  #has(code: string): boolean {
    return isAuthError(this.#error) && this.#error.code === code
  }

  /** Returns the credential whose token a server no longer accepts, although it has not expired. */
  #ended(): string | undefined {
    return isAuthError(this.#error) && this.#error.code === 'LOGIN_REQUIRED' ? this.#error.credential : undefined
  }

  #summary(): readonly Child[] {
    const { model, isMissing, endpointDiffers, widen, ready, refusal } = this.#provider
    const { strings, logins } = this.#context
    const login = this.#provider.login ?? this.#ended()
    const refused = this.#refused()
    if (refusal) return [problemNode(refusal, strings, false)]
    if (model?.obstacle) return [problemNode(model.obstacle, strings, false)]
    if (!model && (isMissing || login !== undefined)) return [problemNode({ code: 'SCHEME_UNSUPPORTED' }, strings, false)]
    const host = model && isolated(titleHost(model))
    return [
      endpointDiffers && host && element('p', { part: 'caution' }, ...sentence(strings.endpointDiffers, { host })),
      ...ready.flatMap((id) => (id === login || id === refused ? [] : this.#inUse(id))),
      refused !== undefined &&
        actions(
          button(strings.again, () => this.#try(() => this.#askAgain(refused))),
          this.#removal(refused, strings.without),
        ),
      model && isMissing && actions(button(model.loginAt === undefined ? strings.enter : strings.continue, () => this.#start(model))),
      login !== undefined && (logins ? this.#loginActions(login) : element('p', { part: 'caution' }, strings['login.noLogins'])),
      widen &&
        (widen.patterns.length > 0
          ? actions(button(strings['widen.start'], () => this.#show('widen')))
          : element('p', { part: 'caution' }, strings['widen.none'])),
    ]
  }

  #inUse(id: string): readonly Child[] {
    const { strings, lang, status, credentials, auth, logins, atProvider, done } = this.#context
    const state = status.get(id)
    const name = isolated(id)
    const isLogin = this.#provider.model?.loginAt !== undefined && state?.state === 'valid'
    const until = state?.expiresAt === undefined || state.refreshable ? undefined : new Date(state.expiresAt)
    const time = until && timeInWords(until, new Date(), lang)
    const user = isLogin ? state.user : undefined
    const text = !isLogin ? 'inUse' : (`loggedIn${user === undefined ? '' : 'As'}${time === undefined ? '' : 'Until'}` as const)
    const values = { id: name, ...(user !== undefined && { user: isolated(user) }), ...(time !== undefined && { time: new Text(time) }) }
    const words = element('p', { part: 'in-use' }, ...sentence(strings[text], values))
    if (isLogin && state.refreshable) words.append('. ', strings.extended)
    const logOut = async () => {
      await (logins ? logins.logout(id, { atProvider }) : auth.logout(id))
      done(strings['said.loggedOut'])
    }
    const buttons = [
      isLogin && button(strings.logout, () => this.#try(logOut), { class: 'second' }),
      credentials.get(id)?.added && this.#removal(id),
    ].filter((one) => one !== false)
    return [words, buttons.length > 0 && actions(...buttons)]
  }

  #removal(id: string, text = this.#context.strings.remove): HTMLButtonElement {
    const { strings, auth, done } = this.#context
    const remove = async () => {
      await auth.credentials.remove(id)
      done(strings['said.removed'])
    }
    return button(text, () => this.#try(remove), { class: 'second' })
  }

  async #askAgain(id: string): Promise<void> {
    const known = this.#context.credentials.get(id)
    if (!known) return
    this.#again = { id, model: await formOfCredential(known) }
    this.#show('form', this.#error)
  }

  /** Returns the credential of the user that a server refused, if its secret can be typed again. */
  #refused(): string | undefined {
    if (!this.#has('AUTH_REJECTED') || !isAuthError(this.#error)) return undefined
    const id = this.#error.credential ?? ''
    // One with a login is used anew after the next login.
    const { credentials, status } = this.#context
    return credentials.get(id)?.added && !status.has(id) ? id : undefined
  }

  async #start(model: FormModel): Promise<void> {
    const { clientId } = this.#known(model)
    if (clientId === undefined) return this.#show('form')
    this.#typed = this.#known(model)
    this.#show('consent')
  }

  /** Returns the client that the page has registered with that provider, as typed values. */
  #known({ loginAt }: FormModel): Typed & { readonly clientId?: string } {
    const client = this.#context.clients.find(({ issuer }) => loginAt !== undefined && originOf(issuer) === originOf(loginAt))
    return client ? { clientId: client.clientId, ...(client.scopes && { scopes: client.scopes.join(' ') }) } : {}
  }

  #form(model: FormModel): HTMLFormElement {
    const refused = this.#again?.id
    const fields = fieldsOf(model).filter(({ secret }) => secret || refused === undefined)
    const submit = async (typed: Typed, keep: boolean) => {
      this.#keep = keep
      try {
        if (refused !== undefined) return await this.#change(refused, typed)
        // Checked before the consent, so that a wrong value is corrected first.
        await credentialFrom(model, typed, { sendTo: model.sendTo, secretTo: model.secretTo })
        this.#typed = typed
        this.#show('consent')
      } catch (error) {
        this.#typed = withoutSecrets(fields, typed)
        this.#fail(error, 'form')
      }
    }
    return formNode({
      id: this.#id,
      fields,
      values: this.#typed,
      keep: this.#context.auth.credentials.keepsSecrets ? this.#keep : undefined,
      strings: this.#context.strings,
      submit,
      cancel: () => this.#show('summary', refused === undefined ? undefined : this.#error),
    })
  }

  /** Replaces a secret that was refused; it goes where the refused one went. */
  async #change(id: string, typed: Typed): Promise<void> {
    const { auth, strings, done } = this.#context
    await auth.credentials.change(id, typed, { keep: this.#keep })
    this.#show('summary')
    done(strings['said.added'])
  }

  #consent(model: FormModel): HTMLFormElement {
    const { strings } = this.#context
    const back = () => {
      this.#typed = withoutSecrets(fieldsOf(model), this.#typed)
      this.#show(this.#known(model).clientId === undefined ? 'form' : 'summary')
    }
    return this.#question(consentNodes(model, this.#id, strings), model.sendTo, back, async (sendTo) => {
      const { auth, done } = this.#context
      const id = this.#provider.offer ?? freeId(titleHost(model), auth)
      const credential = await credentialFrom(model, this.#typed, { sendTo, secretTo: model.secretTo, id })
      this.#typed = withoutSecrets(fieldsOf(model), this.#typed)
      await auth.credentials.add(credential, { keep: this.#keep })
      this.#show('summary')
      done(strings['said.added'])
    })
  }

  #widening({ credential, patterns }: NonNullable<Provider['widen']>): HTMLFormElement {
    const { strings, auth, done } = this.#context
    const text = element('p', {}, ...sentence(strings['widen.text'], { id: isolated(credential) }))
    const nodes = [choiceNode(text.textContent ?? '', patterns, this.#id)]
    return this.#question(
      nodes,
      patterns,
      () => this.#show('summary'),
      async (chosen) => {
        for (const pattern of chosen) await auth.credentials.allow(credential, pattern)
        this.#show('summary')
        done(strings['said.allowed'])
      },
    )
  }

  #question(
    nodes: readonly Child[],
    patterns: readonly string[],
    back: () => void,
    allow: (patterns: readonly string[]) => Promise<void>,
  ): HTMLFormElement {
    const { strings, headingLevel } = this.#context
    return questionNode({
      id: this.#id,
      headingLevel: headingLevel + 2,
      nodes,
      patterns,
      strings,
      back,
      allow: (chosen) => allow(chosen).catch((error: unknown) => this.#fail(error, this.#mode === 'widen' ? 'widen' : 'form')),
    })
  }

  /** Returns the buttons of a login. A credential that would be lost after a redirect logs in with a window only. */
  #loginActions(id: string): HTMLElement {
    const { strings, credentials } = this.#context
    const isLost = ({ added, kept }: Partial<CredentialSummary> = {}) => added === true && kept !== true
    const isBlocked = !isLost(credentials.get(id)) && this.#has('POPUP_BLOCKED')
    const popup = button(strings['login.popup'], () => this.#popup(id), isBlocked ? { class: 'second' } : {})
    const redirect = button(strings['login.redirect'], () => this.#redirect(id), isBlocked ? {} : { class: 'second' })
    const isLeaving = !isLost(credentials.get(id)) && [...credentials.values()].some(isLost)
    return element(
      'div',
      {},
      actions(popup, !isLost(credentials.get(id)) && redirect, credentials.get(id)?.added && this.#removal(id)),
      isLeaving && element('p', { class: 'muted' }, strings['login.leaving']),
    )
  }

  /** Opens the window synchronously: browsers allow that only in the click handler. */
  #popup(id: string): void {
    const { logins, watchClosing, done, strings } = this.#context
    const login = new AbortController()
    const finished = logins?.popup(id, { signal: login.signal, watchClosing })
    this.#login = login
    this.#show('waiting')
    finished?.then(
      () => {
        this.#show('summary')
        done(strings['said.loggedIn'])
      },
      (error: unknown) => {
        if (login.signal.aborted) this.#show('summary')
        else this.#fail(error, 'summary')
      },
    )
  }

  #redirect(id: string): Promise<void> {
    return this.#try(async () => this.#context.logins?.redirect(id))
  }

  #waiting(): readonly Child[] {
    const { strings } = this.#context
    return [
      element('p', { role: 'status', part: 'waiting' }, strings['login.waiting']),
      actions(button(strings.cancel, () => this.#login?.abort(), { class: 'second' })),
    ]
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#fail(error, 'summary')
    }
  }

  #fail(error: unknown, mode: Mode): void {
    this.#show(mode, error)
    this.#context.failed(error)
  }
}

/**
 * Returns a key of everything that a summary shows. While it stays the same, nothing is replaced, so that the focus and open details stay.
 */
function factsOf(provider: Provider, context: ViewContext): string {
  const { status, credentials: known, logins, headingLevel } = context
  const ids = [...provider.ready, ...(provider.login === undefined ? [] : [provider.login])]
  const credentials = ids.map((id) => [status.get(id), known.get(id)])
  const areLost = [...known.values()].some(({ added, kept }) => added && !kept)
  return JSON.stringify([provider, credentials, areLost, logins !== undefined, headingLevel, isAmbiguous(provider, context)])
}

function isAmbiguous(provider: Provider, { ambiguous, lang, strings }: ViewContext): boolean {
  return ambiguous.has(titleOf(provider, lang, strings))
}

/** Returns a key of everything that a form and a consent request; when it changes, a consent is void. */
function questionOf({ model, isMissing, widen }: Provider): string {
  return JSON.stringify([isMissing, widen, model?.fields, model?.sendTo, model?.secretTo, model?.loginAt])
}

/** Returns the host of the login, the endpoint or the files. */
function titleHost({ loginAt, secretTo, sendTo }: FormModel): string {
  const place = loginAt ?? secretTo[0] ?? sendTo[0] ?? ''
  return /^[a-z0-9]+:\/\/([^/]+)/i.exec(place)?.[1] ?? place
}

function originOf(address: string): string | undefined {
  try {
    return new URL(address).origin
  } catch {
    return undefined
  }
}

/** Returns an unused id for a credential of that host. */
function freeId(host: string, { credentials }: ElementAuth): string {
  const taken = new Set(credentials.list().map(({ id }) => id))
  const decent = host.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 48) || 'credential'
  for (let count = 1; ; count++) {
    const id = count === 1 ? decent : `${decent}-${count}`
    if (!taken.has(id) && !credentials.offer(id)) return id
  }
}

/** The message says what to do, because neither the element nor consoles show a hint. */
export function notADocument(): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', 'document is not a STAC document: set the parsed JSON')
}
