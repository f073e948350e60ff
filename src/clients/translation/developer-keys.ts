/** Keys of the developers of an organization. */
import type { Result } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** Most of an administrator's record of a key; never the key itself. */
export interface DeveloperKey {
  /** Two GUIDs with a colon between them. */
  readonly key_id: string
  readonly label: string
  readonly creation_time: string
  readonly deactivated_time: string | null
  readonly is_deactivated: boolean
  readonly usage_limits: { readonly characters: number | null; readonly speech_to_text_milliseconds: number | null }
}

/** Per month: `null` is without a limit, 0 is nothing, what is left out stays as it is. */
export interface DeveloperKeyLimits {
  readonly characters?: number | null
  readonly speech_to_text_milliseconds?: number | null
}

/** Creates, lists and changes keys. */
export class DeveloperKeys {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  create(params: { readonly label?: string } = {}, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.create', { body: params }, options)
  }

  /** All of them, with those that are deactivated. */
  list(options: TranslationCallOptions = {}): Promise<Result<readonly DeveloperKey[]>> {
    return this.#service.call('admin.keys.list', {}, options)
  }

  /** At once and for ever. */
  deactivate(params: { readonly key_id: string }, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.deactivate', { body: params }, options)
  }

  rename(params: { readonly key_id: string; readonly label: string }, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.rename', { body: params }, options)
  }

  setLimits(params: { readonly key_id: string } & DeveloperKeyLimits, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.setLimits', { body: params }, options)
  }
}
