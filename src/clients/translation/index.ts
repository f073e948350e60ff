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
export { DocumentHandle, type ExportedHandle } from './document-handle.ts'
export { BatchError, DocumentError, JobFailedError } from './errors.ts'
export type { OperationName, Right, TranslationOperation } from './operations.ts'
export { operations } from './operations.ts'
export type { Nothing, Result } from './result.ts'
export { type RawRequest, TranslationClient } from './translation-client.ts'
export type { ApiKey, TranslationCallOptions, TranslationClientOptions, Validation } from './translation-options.ts'
