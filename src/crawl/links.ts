import { isObject, type JsonObject, own, ownString } from '../stac/json.ts'
import { readRefs } from '../stac/target.ts'
import type { Via } from './job.ts'

/** The links of that relation that may lead to JSON; a link that says nothing about its type may. */
export function linksOf(document: unknown, rel: string): readonly JsonObject[] {
  const links = own(document, 'links')
  if (!Array.isArray(links)) return []
  return links.filter(
    (link): link is JsonObject => isObject(link) && ownString(link, 'rel') === rel && /json|^$/i.test(ownString(link, 'type') ?? ''),
  )
}

/** True for a link that asks for authentication and does not say which: it is not followed, for nobody knows that it is public. */
export function isUnreadable(link: JsonObject): boolean {
  const { refs, malformedRefs } = readRefs(link, '')
  return malformedRefs !== undefined && refs.length === 0
}

/** Why such a link is not followed. */
export const UNREADABLE = 'is malformed: its auth:refs is not a list of scheme names. It is not requested without credentials'

/** What the link in the document at `url` says about access; undefined for a public one. */
export function viaOf(link: JsonObject, url: string): Via | undefined {
  const { refs } = readRefs(link, '')
  return refs.length === 0 ? undefined : { url, refs: refs.slice(0, MOST_REFS) }
}

/** Nobody reads more in a message. */
const MOST_REFS = 3
