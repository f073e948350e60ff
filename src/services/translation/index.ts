/** `stac-auth/translation`: a client of the translation service. */
export type {
  Admin,
  CustomTagUsage,
  CustomTagUsageParams,
  CustomTagUsageReport,
  DeveloperKey,
  DeveloperKeyLimits,
  DeveloperKeys,
  KeyUsage,
  ReportRange,
  Usage,
  UsageCounts,
  UsageOfProduct,
  UsageRecord,
  UsageReport,
  UsageReportParams,
} from './admin.ts'
export { type CatalogTranslationOptions, type TranslatedCatalog, translateCatalog } from './catalog/translate-catalog.ts'
export type { DocumentSink, FetchedDocument } from './document-download.ts'
export { DocumentHandle, type DocumentStatus, type ExportedHandle } from './document-handle.ts'
export type { DocumentParams, DocumentSource } from './document-upload.ts'
export type { AnyHandle, Documents, TranslatedDocument } from './documents.ts'
export { BatchError, DocumentError, JobFailedError, VoiceError } from './errors.ts'
export type { Dictionary, DictionaryInput, DictionaryText, Glossaries, GlossariesV2, Glossary, MultilingualGlossary } from './glossaries.ts'
export { type EntriesFormat, type EntriesInput, GlossaryEntries, type GlossaryPair } from './glossaries.ts'
export type {
  Language,
  LanguageCode,
  LanguageFeature,
  LanguageListParams,
  LanguagePair,
  LanguageResource,
  LanguageResourceRecord,
  Languages,
  LanguageV2,
} from './languages.ts'
export { type OperationName, operations, type Right, type TranslationOperation } from './operations.ts'
export type {
  Quality,
  QualityInput,
  QualityJob,
  QualityMistake,
  QualityReport,
  QualitySegment,
  QualityState,
} from './quality.ts'
export { type CodePointSpan, sliceCodePoints } from './quality.ts'
export type {
  ConfiguredRules,
  StyleInstruction,
  StyleInstructionInput,
  StyleInstructions,
  StyleRuleList,
  StyleRuleListInput,
  StyleRulePage,
  StyleRules,
  TranslationMemories,
  TranslationMemory,
  TranslationMemoryListParams,
  TranslationMemoryPage,
} from './style-rules.ts'
export type {
  TextOutcome,
  TranslatedTexts,
  TranslateManyOptions,
  TranslateParams,
  TranslateTextParams,
  Translation,
  Translations,
} from './translate-text.ts'
export { type RawRequest, TranslationClient } from './translation-client.ts'
export type { ApiKey, Nothing, Result, TranslationCallOptions, TranslationClientOptions, Validation } from './translation-service.ts'
export type { Voice, VoiceOpenOptions } from './voice.ts'
export type {
  Recording,
  VoiceJob,
  VoiceJobInput,
  VoiceJobOptions,
  VoiceJobOutcome,
  VoiceJobResult,
  VoiceJobState,
  VoiceJobs,
  VoiceJobTarget,
  VoiceResultStream,
} from './voice-jobs.ts'
export type { SourceVoiceSegment, VoiceMessage, VoiceMessageType, VoiceSegment, VoiceSessionInput } from './voice-messages.ts'
export type { VoiceAccess, VoiceSession, VoiceTranscript } from './voice-session.ts'
export type { CorrectTextParams, Improvement, Improvements, RephraseTextParams } from './writing.ts'
