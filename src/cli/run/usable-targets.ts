/** Chooses for each asset the URL that can be requested: its own or that of an alternate, in the order of `download`. */
import type { Auth } from '../../auth/auth.ts'
import { targetAddress } from '../../auth/resource.ts'
import { isAuthError } from '../../errors.ts'
import { selectFiles } from '../../node/download/index.ts'
import type { Gateway, GatewayTarget } from '../../node/gateway/index.ts'
import type { Target } from '../../stac/target.ts'
import type { ReadDocument } from '../read-document.ts'

/** A target; `instead` says which alternate asset has the URL, and why the asset itself cannot be requested. */
export interface UsableTarget extends GatewayTarget {
  readonly instead?: { readonly key: string; readonly why: string }
}

/**
 * Returns the targets of a gateway. Those that cannot be requested have the URL of their first alternate that can; without one they are
 * unchanged, so that a request says why it is refused.
 */
export async function usableTargets(
  { targets, refused }: Pick<Gateway, 'targets' | 'refused'>,
  documents: readonly ReadDocument[],
  auth: Auth,
): Promise<readonly UsableTarget[]> {
  const replaced = new Map<string, UsableTarget>()
  for (const document of documents) {
    for (const { key, targets: choices } of selectFiles(document, {})) {
      const [asset, ...alternates] = choices
      if (alternates.length === 0) continue
      const why = await refusalOf(asset, auth)
      if (why === undefined) continue
      for (const alternate of alternates) {
        if ((await refusalOf(alternate, auth)) !== undefined) continue
        const href = targetAddress(alternate)
        const served = targets.find((target) => target.href === href && target.key.startsWith(`${key}/`))
        if (served) replaced.set(`${served.document}/${key}`, { ...served, key, instead: { key: served.key, why } })
        break
      }
    }
  }
  const known = targets.map((target) => replaced.get(`${target.document}/${target.key}`) ?? target)
  const added = refused.flatMap(({ document, key }) => replaced.get(`${document}/${key}`) ?? [])
  return [...known, ...added]
}

/** Returns why a target cannot be requested; undefined where nothing is known against it. Nothing is sent. */
async function refusalOf(target: Target, auth: Auth): Promise<string | undefined> {
  const { code, message, refs } = await auth.explain(target)
  if (code !== undefined) return `${code}: ${message}`
  const [first] = refs
  if (first) return refs.some((ref) => ref.code === undefined) ? undefined : `${first.code}: ${first.message}`
  // Objects of a store need a signature, also where the document does not say so.
  const href = targetAddress(target)
  if (/^https?:/.test(href)) return undefined
  try {
    await auth.service(href)
    return undefined
  } catch (error) {
    if (isAuthError(error)) return `${error.code}: ${error.message}`
    throw error
  }
}
