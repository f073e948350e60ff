/** A language of the service, in the case of BCP 47. */
export interface Language {
  readonly lang: string
  readonly name: string
  readonly source: boolean
  readonly target: boolean
  readonly formality: boolean
  readonly glossary: boolean
  readonly status: 'stable' | 'beta'
  /** Served by somebody else: only listed when asked for. */
  readonly external?: true
}

const GLOSSARY = new Set('ar bg cs da de el en es et fi fr he hu id it ja ko lt lv nb nl pl pt ro ru sk sl sv th tr uk vi zh'.split(' '))
const FORMALITY = new Set('de es fr it ja nl pl pt ru'.split(' '))

const NAMES: Readonly<Record<string, string>> = {
  ar: 'Arabic',
  bg: 'Bulgarian',
  cs: 'Czech',
  da: 'Danish',
  de: 'German',
  el: 'Greek',
  en: 'English',
  es: 'Spanish',
  et: 'Estonian',
  fi: 'Finnish',
  fr: 'French',
  he: 'Hebrew',
  hu: 'Hungarian',
  id: 'Indonesian',
  it: 'Italian',
  ja: 'Japanese',
  ko: 'Korean',
  lt: 'Lithuanian',
  lv: 'Latvian',
  nb: 'Norwegian (Bokmål)',
  nl: 'Dutch',
  pl: 'Polish',
  pt: 'Portuguese',
  ro: 'Romanian',
  ru: 'Russian',
  sk: 'Slovak',
  sl: 'Slovenian',
  sv: 'Swedish',
  th: 'Thai',
  tr: 'Turkish',
  uk: 'Ukrainian',
  vi: 'Vietnamese',
  zh: 'Chinese',
}

const VARIANTS: Readonly<Record<string, string>> = {
  'en-GB': 'English (British)',
  'en-US': 'English (American)',
  'pt-BR': 'Portuguese (Brazilian)',
  'pt-PT': 'Portuguese (European)',
  'es-419': 'Spanish (Latin American)',
  'zh-Hans': 'Chinese (simplified)',
  'zh-Hant': 'Chinese (traditional)',
}

/** All languages; some are beta, one is external, one has three subtags. */
export const languages: readonly Language[] = [
  ...Object.entries(NAMES).map(([lang, name]) => language(lang, name, true)),
  ...Object.entries(VARIANTS).map(([lang, name]) => language(lang, name, false)),
  { ...language('de-CH', 'German (Swiss)', false), status: 'beta' },
  { ...language('fr-CA', 'French (Canadian)', false), status: 'beta' },
  { ...language('sr-Cyrl-RS', 'Serbian (Cyrillic, Serbia)', true), status: 'beta' },
  { ...language('mt', 'Maltese', true), external: true },
]

const byCode = new Map(languages.map((entry) => [entry.lang.toLowerCase(), entry]))

/** In any case of letters. */
export function languageOf(code: string): Language | undefined {
  return byCode.get(code.toLowerCase())
}

/** The first subtag, in lower case. */
export function baseOf(code: string): string {
  return code.toLowerCase().split('-')[0] ?? ''
}

/** True for what a dictionary of a glossary may name. */
export function isGlossaryLanguage(code: string): boolean {
  return GLOSSARY.has(code.toLowerCase())
}

/** Codes of glossaries, in lower case. */
export const glossaryLanguages: readonly string[] = [...GLOSSARY]

function language(lang: string, name: string, source: boolean): Language {
  const base = baseOf(lang)
  return { lang, name, source, target: true, formality: FORMALITY.has(base), glossary: GLOSSARY.has(base), status: 'stable' }
}
