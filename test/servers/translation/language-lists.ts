import { jsonReply, type Reply } from '../service/reply.ts'
import { type Language, languages } from './languages.ts'
import { queryValue, requiredQuery } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

interface Feature {
  readonly name: string
  readonly needs_source_support?: boolean
  readonly needs_target_support?: boolean
}

const PAIR = { needs_source_support: true, needs_target_support: true }
const TARGET = { needs_target_support: true }

const RESOURCES: Readonly<Record<string, readonly Feature[]>> = {
  translate_text: [
    { name: 'formality', ...TARGET },
    { name: 'glossary', ...PAIR },
    { name: 'tag_handling', ...PAIR },
    { name: 'auto_detection', needs_source_support: true },
  ],
  translate_document: [
    { name: 'formality', ...TARGET },
    { name: 'glossary', ...PAIR },
  ],
  glossary: [{ name: 'glossary', ...PAIR }],
  voice: [
    { name: 'transcription', needs_source_support: true },
    { name: 'translated_speech', ...TARGET },
  ],
  write: [
    { name: 'writing_style', ...TARGET },
    { name: 'tone', ...TARGET },
  ],
  style_rules: [{ name: 'style_rules', ...TARGET }],
  translation_memory: [{ name: 'translation_memory', ...PAIR }],
}

/** Operation 29: upper case, without beta and external ones. */
export function oldLanguages({ request }: Call): Reply {
  const type = queryValue(request.query, 'type') ?? 'source'
  if (type !== 'source' && type !== 'target') return refuse(400, "Value for 'type' not supported.")
  const listed = languages.filter((language) => language.status === 'stable' && !language.external && language[type])
  return jsonReply(
    200,
    listed.map(({ lang, name, formality }) => ({
      ...{ language: lang.toUpperCase(), name },
      ...(type === 'target' && { supports_formality: formality }),
    })),
  )
}

/** Operation 30. */
export function languageResources(): Reply {
  return jsonReply(
    200,
    Object.entries(RESOURCES).map(([name, features]) => ({ name, features })),
  )
}

/** Operation 31: beta and external ones when they are asked for. */
export function listLanguages(call: Call): Reply {
  const resource = requiredQuery(call, 'resource')
  const features = Object.hasOwn(RESOURCES, resource) ? RESOURCES[resource] : undefined
  if (!features) return refuse(400, "Value for 'resource' not supported.")
  const included = call.request.query.filter(([name]) => name === 'include').map(([, value]) => value)
  if (included.some((value) => value !== 'beta' && value !== 'external')) refuse(400, "Value for 'include' not supported.")
  const listed = languages.filter(
    ({ status, external }) => (status === 'stable' || included.includes('beta')) && (!external || included.includes('external')),
  )
  return jsonReply(
    200,
    listed.map((language) => ({
      ...{
        lang: language.lang,
        name: language.name,
        usable_as_source: language.source,
        usable_as_target: language.target,
        status: language.status,
      },
      features: Object.fromEntries(features.filter(({ name }) => supports(language, name)).map(({ name }) => [name, featureOf(language)])),
    })),
  )
}

function supports(language: Language, feature: string): boolean {
  if (feature === 'formality') return language.formality
  if (feature === 'glossary') return language.glossary
  return feature === 'tag_handling' || language.source
}

function featureOf({ status, external }: Language) {
  return { status, ...(external && { external }) }
}
