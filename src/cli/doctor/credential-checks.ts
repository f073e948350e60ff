/** Checks of logins, and of what a document needs. */
import type { Auth, CredentialStatus, Explanation } from '../../auth/auth.ts'
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { targetsOf } from '../../stac/target.ts'
import type { ReadDocument } from '../read-document.ts'
import { expiryText } from '../units.ts'
import { type Check, failed, ok, problem, warning } from './check.ts'

/** Checks the stored tokens. */
export async function loginChecks(auth: Auth): Promise<readonly Check[]> {
  try {
    return (await auth.status()).map(loginCheck)
  } catch (error) {
    return [failed('logins', error)]
  }
}

function loginCheck({ credential, state, expiresAt, refreshable, flow }: CredentialStatus): Check {
  const check = `token ${credential}`
  const until = expiresAt === undefined ? '' : ` until ${expiryText(expiresAt, Date.now())}`
  if (state === 'valid') return ok(check, `is valid${until}`)
  if (refreshable)
    return ok(check, state === 'expired' ? 'has expired and is refreshed with the next request' : 'is requested with the first request')
  const message = state === 'expired' ? 'has expired' : `does not exist yet${flow === undefined ? '' : ` (${flow})`}: a login is required`
  const report = state === 'expired' ? problem : warning
  return report(check, 'LOGIN_REQUIRED', message, `stac-auth login ${credential}`)
}

/** Explains, once per scheme, which credential the targets of a document get, and names credentials that match none. */
export async function documentChecks(
  { document, url }: ReadDocument,
  auth: Auth,
  { credentials }: CredentialSet<CredentialObject>,
): Promise<readonly Check[]> {
  const targets = [...targetsOf(document, url === undefined ? {} : { url })].filter(({ kind }) => kind !== 'item_asset')
  const explanations = await Promise.all(targets.map((target) => auth.explain(target)))
  const checks = new Map<string, { check: Check; count: number }>()
  for (const check of explanations.flatMap(schemeChecks)) {
    const key = JSON.stringify(check)
    checks.set(key, { check, count: (checks.get(key)?.count ?? 0) + 1 })
  }
  const used = new Set(explanations.flatMap(({ refs, byAddress }) => [...refs.map(({ credential }) => credential), byAddress?.credential]))
  const unused = credentials.filter(
    ({ id }) => !used.has(id as string) && !credentials.some((other) => other.with === id || other.subject === id),
  )
  const found = [...checks.values()].map(({ check, count }) => ({
    ...check,
    message: `${check.message} (${count} ${count === 1 ? 'target' : 'targets'})`,
  }))
  const open = found.length > 0 ? [] : [ok('document', 'no target of the document requires authentication')]
  return [...open, ...found, ...unused.map(unusedCheck)]
}

function schemeChecks({ refs, code, message = '', hint }: Explanation): readonly Check[] {
  if (code !== undefined) return refs.length > 0 ? [problem('target', code, message, hint ?? 'correct the document')] : []
  return refs.map((ref) => {
    const check = `scheme ${ref.ref}`
    if (ref.code === undefined)
      return ok(check, ref.credential === undefined ? 'needs no credential' : `is answered by "${ref.credential}"`)
    return problem(check, ref.code, ref.message ?? '', ref.hint ?? 'stac-auth setup DOC')
  })
}

function unusedCheck({ id }: CredentialObject): Check {
  const hint = 'stac-auth explain DOC shows why; for other documents it may be right'
  return warning(`credential ${id}`, 'CREDENTIAL_TARGET_UNTRUSTED', 'is for no target of the document', hint)
}
