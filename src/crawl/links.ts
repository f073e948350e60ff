import { isObject, type JsonObject, own, ownString } from '../stac/json.ts'

/** The links of that relation that may lead to JSON; a link that says nothing about its type may. */
export function linksOf(document: unknown, rel: string): readonly JsonObject[] {
  const links = own(document, 'links')
  if (!Array.isArray(links)) return []
  return links.filter(
    (link): link is JsonObject => isObject(link) && ownString(link, 'rel') === rel && /json|^$/i.test(ownString(link, 'type') ?? ''),
  )
}
