/** `stac-auth/translation`: a client of the translation service. */
export { type CatalogTranslationOptions, type TranslatedCatalog, translateCatalog } from './catalog/translate-catalog.ts'
export { DocumentHandle } from './document-upload.ts'
export { BatchError, DocumentError, JobFailedError, VoiceError } from './errors.ts'
export { GlossaryEntries } from './glossaries.ts'
export type { TextOutcome } from './translate-many.ts'
export type { TranslateParams, Translation } from './translate-text.ts'
export { TranslationClient } from './translation-client.ts'
export type { Result, TranslationCallOptions, TranslationClientOptions } from './translation-service.ts'
