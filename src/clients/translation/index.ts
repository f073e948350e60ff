/** `stac-auth/translation`: a client of the translation service. */
export type {
  Admin,
  CustomTagUsage,
  CustomTagUsageParams,
  CustomTagUsageReport,
  KeyUsage,
  ReportRange,
  UsageCounts,
  UsageReport,
  UsageReportParams,
} from './admin.ts'
export { type CatalogTranslationOptions, type TranslatedCatalog, translateCatalog } from './catalog/translate-catalog.ts'
export type { DeveloperKey, DeveloperKeyLimits, DeveloperKeys } from './developer-keys.ts'
export type { FetchedDocument } from './document-download.ts'
export { DocumentHandle, type ExportedHandle } from './document-handle.ts'
export type { DocumentSink } from './document-sink.ts'
export type { DocumentSource } from './document-source.ts'
export type { DocumentStatus } from './document-status.ts'
export type { DocumentParams } from './document-upload.ts'
export type { AnyHandle, Documents, TranslatedDocument } from './documents.ts'
export { BatchError, DocumentError, JobFailedError } from './errors.ts'
export type { LanguageCode } from './language-code.ts'
export type {
  Language,
  LanguageFeature,
  LanguageListParams,
  LanguagePair,
  LanguageResource,
  LanguageResourceRecord,
  Languages,
  LanguageV2,
} from './languages.ts'
export { type OperationName, operations, type Right, type TranslationOperation } from './operations.ts'
export type { Nothing, Result } from './result.ts'
export type { TextOutcome, TranslatedTexts, TranslateManyOptions } from './translate-many.ts'
export type { TranslateParams, TranslateTextParams, Translation, Translations } from './translate-params.ts'
export { type RawRequest, TranslationClient } from './translation-client.ts'
export type { TranslationMemories, TranslationMemory, TranslationMemoryListParams, TranslationMemoryPage } from './translation-memories.ts'
export type { ApiKey, TranslationCallOptions, TranslationClientOptions, Validation } from './translation-options.ts'
export type { Usage, UsageOfProduct, UsageRecord } from './usage.ts'
export type { CorrectTextParams, Improvement, Improvements, RephraseTextParams } from './writing.ts'
