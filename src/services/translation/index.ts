/** `stac-auth/translation`: a client of the translation service. */
export type { Admin, CustomTagUsageParams, CustomTagUsageReport, DeveloperKey, DeveloperKeys, Usage, UsageReport } from './admin.ts'
export { type CatalogTranslationOptions, type TranslatedCatalog, translateCatalog } from './catalog/translate-catalog.ts'
export { DocumentHandle, type DocumentParams, type DocumentSource, type ExportedHandle } from './document-upload.ts'
export type { DocumentSink, DocumentStatus, Documents, FetchedDocument, TranslatedDocument } from './documents.ts'
export { BatchError, DocumentError, JobFailedError, VoiceError } from './errors.ts'
export type { DictionaryInput, Glossaries, GlossariesV2, Glossary, GlossaryPair, MultilingualGlossary } from './glossaries.ts'
export { GlossaryEntries } from './glossaries.ts'
export type { Language, LanguageCode, LanguageResource, LanguageResourceRecord, Languages } from './languages.ts'
export type { Quality, QualityInput, QualityJob, QualityReport, QualityState } from './quality.ts'
export { sliceCodePoints } from './quality.ts'
export type {
  StyleInstruction,
  StyleInstructions,
  StyleRuleList,
  StyleRuleListInput,
  StyleRules,
  TranslationMemories,
  TranslationMemory,
} from './style-rules.ts'
export type { TextOutcome, TranslatedTexts, TranslateManyOptions } from './translate-many.ts'
export type { Improvement, RephraseTextParams, TranslateParams, Translation } from './translate-text.ts'
export { TranslationClient } from './translation-client.ts'
export type { Result, TranslationCallOptions, TranslationClientOptions } from './translation-service.ts'
export type { Voice, VoiceOpenOptions, VoiceSessionInput } from './voice.ts'
export type { VoiceJob, VoiceJobInput, VoiceJobOutcome, VoiceJobState, VoiceJobs } from './voice-jobs.ts'
export type { VoiceMessage, VoiceSegment } from './voice-messages.ts'
export type { VoiceAccess, VoiceSession, VoiceTranscript } from './voice-session.ts'
