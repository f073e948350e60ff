/** Sentences in a list of style rules that say how to translate. */
import { checkTextLength } from './check-text-length.ts'
import { named } from './named.ts'
import type { Nothing, Result } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

export interface StyleInstructionInput {
  /** At most 100 characters. */
  readonly label: string
  /** At most 300 characters. */
  readonly prompt: string
  readonly source_language?: string
}

export interface StyleInstruction extends StyleInstructionInput {
  readonly id: string
}

/** The instructions of lists, one by one. */
export class StyleInstructions {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  create(style_id: string, instruction: StyleInstructionInput, options: TranslationCallOptions = {}): Promise<Result<StyleInstruction>> {
    return named('styleRules.instructions.create', async () => {
      if (this.#service.validation(options) === 'strict') checkInstruction(instruction)
      return this.#service.call('styleRules.instructions.create', { path: { style_id }, body: instruction }, options)
    })
  }

  get(style_id: string, instruction_id: string, options: TranslationCallOptions = {}): Promise<Result<StyleInstruction>> {
    return this.#service.call('styleRules.instructions.get', { path: { style_id, instruction_id } }, options)
  }

  replace(
    style_id: string,
    instruction_id: string,
    instruction: StyleInstructionInput,
    options: TranslationCallOptions = {},
  ): Promise<Result<StyleInstruction>> {
    return named('styleRules.instructions.replace', async () => {
      if (this.#service.validation(options) === 'strict') checkInstruction(instruction)
      return this.#service.call('styleRules.instructions.replace', { path: { style_id, instruction_id }, body: instruction }, options)
    })
  }

  delete(style_id: string, instruction_id: string, options: TranslationCallOptions = {}): Promise<Result<Nothing>> {
    return this.#service.call('styleRules.instructions.delete', { path: { style_id, instruction_id } }, options)
  }
}

/** Errors: `REQUEST_TOO_LARGE`. */
export function checkInstruction({ label, prompt }: StyleInstructionInput, at = ''): void {
  checkTextLength(label, `${at}label`, 100)
  checkTextLength(prompt, `${at}prompt`, 300)
}
