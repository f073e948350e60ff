import type { Reply } from '../service/reply.ts'
import { accountUsage } from './account-usage.ts'
import { createKey, deactivateKey, limitKey, listKeys, renameKey } from './developer-keys.ts'
import { documentStatus, downloadDocument, uploadDocument } from './documents.ts'
import { createOldGlossary, deleteOldGlossary, getOldEntries, getOldGlossary, languagePairs, listOldGlossaries } from './glossaries-v2.ts'
import {
  createGlossary,
  deleteDictionary,
  deleteGlossary,
  getEntries,
  getGlossary,
  listGlossaries,
  putDictionary,
  updateGlossary,
} from './glossaries-v3.ts'
import { languageResources, listLanguages, oldLanguages } from './language-lists.ts'
import { listMemories } from './memories.ts'
import { pollQuality, submitQuality } from './quality.ts'
import type { Call } from './state.ts'
import { createInstruction, deleteInstruction, getInstruction, replaceInstruction } from './style-instructions.ts'
import { createStyle, deleteStyle, getStyle, listStyles, renameStyle, setRules } from './style-lists.ts'
import { tagReport } from './tag-report.ts'
import { translate } from './translate.ts'
import { usageReport } from './usage-report.ts'
import { createVoiceJob, getVoiceJob } from './voice-jobs.ts'
import { createVoiceSession, reconnectVoiceSession } from './voice-sessions.ts'
import { correct, rephrase } from './writing.ts'

/** What answers one operation; some name addresses of the second origin. */
export type Performer = (call: Call, places: Places) => Reply

/** Addresses of the second origin, for recordings and for sessions. */
export interface Places {
  readonly assets: string
  readonly voice: string
}

/** By number of the operation. */
export const performers: Readonly<Record<number, Performer>> = {
  1: usageReport,
  2: tagReport,
  3: createKey,
  4: listKeys,
  5: deactivateKey,
  6: renameKey,
  7: limitKey,
  8: translate,
  9: uploadDocument,
  10: documentStatus,
  11: downloadDocument,
  12: languagePairs,
  13: createGlossary,
  14: listGlossaries,
  15: getGlossary,
  16: updateGlossary,
  17: deleteGlossary,
  18: getEntries,
  19: deleteDictionary,
  20: putDictionary,
  21: createOldGlossary,
  22: listOldGlossaries,
  23: getOldGlossary,
  24: deleteOldGlossary,
  25: getOldEntries,
  26: rephrase,
  27: correct,
  28: accountUsage,
  29: oldLanguages,
  30: languageResources,
  31: listLanguages,
  32: listMemories,
  33: listStyles,
  34: createStyle,
  35: getStyle,
  36: renameStyle,
  37: deleteStyle,
  38: setRules,
  39: createInstruction,
  40: getInstruction,
  41: replaceInstruction,
  42: deleteInstruction,
  43: (call, { voice }) => createVoiceSession(call, voice),
  44: (call, { voice }) => reconnectVoiceSession(call, voice),
  45: (call, { assets }) => createVoiceJob(call, assets),
  46: (call, { assets }) => getVoiceJob(call, assets),
  47: submitQuality,
  48: pollQuality,
}
