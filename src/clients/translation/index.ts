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
export type { DictionaryInput, DictionaryText } from './dictionary-text.ts'
export type { FetchedDocument } from './document-download.ts'
export { DocumentHandle, type ExportedHandle } from './document-handle.ts'
export type { DocumentSink } from './document-sink.ts'
export type { DocumentSource } from './document-source.ts'
export type { DocumentStatus } from './document-status.ts'
export type { DocumentParams } from './document-upload.ts'
export type { AnyHandle, Documents, TranslatedDocument } from './documents.ts'
export { BatchError, DocumentError, JobFailedError } from './errors.ts'
export type { Dictionary, Glossaries, MultilingualGlossary } from './glossaries.ts'
export type { GlossariesV2, Glossary } from './glossaries-v2.ts'
export { type EntriesFormat, type EntriesInput, GlossaryEntries, type GlossaryPair } from './glossary-entries.ts'
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
export type {
  Quality,
  QualityInput,
  QualityJob,
  QualityMistake,
  QualityReport,
  QualitySegment,
  QualityState,
} from './quality.ts'
export type { Nothing, Result } from './result.ts'
export { type CodePointSpan, sliceCodePoints } from './slice-code-points.ts'
export type { StyleInstruction, StyleInstructionInput, StyleInstructions } from './style-instructions.ts'
export type { ConfiguredRules, StyleRuleList, StyleRuleListInput, StyleRulePage, StyleRules } from './style-rules.ts'
export type { TextOutcome, TranslatedTexts, TranslateManyOptions } from './translate-many.ts'
export type { TranslateParams, TranslateTextParams, Translation, Translations } from './translate-params.ts'
export { type RawRequest, TranslationClient } from './translation-client.ts'
export type { TranslationMemories, TranslationMemory, TranslationMemoryListParams, TranslationMemoryPage } from './translation-memories.ts'
export type { ApiKey, TranslationCallOptions, TranslationClientOptions, Validation } from './translation-options.ts'
export type { Usage, UsageOfProduct, UsageRecord } from './usage.ts'
export type { Voice, VoiceOpenOptions } from './voice.ts'
export { VoiceError } from './voice-error.ts'
export type { Recording, VoiceResultStream } from './voice-job-assets.ts'
export type {
  VoiceJob,
  VoiceJobInput,
  VoiceJobOptions,
  VoiceJobOutcome,
  VoiceJobResult,
  VoiceJobState,
  VoiceJobs,
  VoiceJobTarget,
} from './voice-jobs.ts'
export type { VoiceAccess } from './voice-line.ts'
export type { SourceVoiceSegment, VoiceMessage, VoiceMessageType, VoiceSegment } from './voice-messages.ts'
export type { VoiceSession } from './voice-session.ts'
export type { VoiceSessionInput } from './voice-session-input.ts'
export type { VoiceTranscript } from './voice-transcript.ts'
export type { CorrectTextParams, Improvement, Improvements, RephraseTextParams } from './writing.ts'
