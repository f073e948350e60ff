/** Checks of logins, and of what a document needs. */
import type { Auth, CredentialStatus } from '../../auth/auth.ts'
import type { CredentialObject, CredentialSet } from '../../auth/credential.ts'
import { AuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import { needsOf } from '../credentials/missing-credentials.ts'
import { commandFor, type DescribedTarget, describeTargets } from '../known-providers.ts'
import { needsPerson } from '../login.ts'
import type { ReadDocument } from '../read-document.ts'
import { documentWord, withSetupHint } from '../setup-hint.ts'
import { expiryText } from '../units.ts'
import { type Check, failed, ok, problem, warning } from './check.ts'
import { providerChecks } from './provider-checks.ts'

/** Checks the stored tokens; `byPerson` is true when a login of the user is needed for one, so that it must be stored. */
export async function loginChecks(auth: Auth): Promise<{ readonly checks: readonly Check[]; readonly byPerson: boolean }> {
  try {
    const states = await auth.status()
    return { checks: states.map(loginCheck), byPerson: states.some(needsPerson) }
  } catch (error) {
    return { checks: [failed('logins', error)], byPerson: true }
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

/** Explains, once per scheme, which credential the targets of a document get, and names the credentials that match none. */
export async function documentChecks(
  read: ReadDocument,
  auth: Auth,
  { credentials }: CredentialSet<CredentialObject>,
  name: string,
): Promise<readonly Check[]> {
  const described = await describeTargets(read, auth)
  const counts = new Map<string, number>()
  for (const check of described.flatMap((one) => schemeChecks(one, name))) {
    const text = JSON.stringify(check)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const found = [...counts].map(([text, count]): Check => {
    const check: Check = JSON.parse(text)
    return { ...check, message: `${check.message} (${plural(count, 'target')})` }
  })
  const used = new Set(
    described.flatMap(({ explanation: { refs, byAddress } }) =>
      [...refs, ...(byAddress ? [byAddress] : [])].map(({ credential }) => credential),
    ),
  )
  const unused = credentials.filter(
    ({ id }) => !used.has(id as string) && !credentials.some((other) => other.with === id || other.subject === id),
  )
  const open = found.length > 0 ? [] : [ok('document', 'it declares no authentication')]
  const isInDoubt = open.length > 0 || found.some(({ level }) => level === 'error')
  const recognized = described.flatMap((one) => one.recognized ?? [])
  return [...open, ...found, ...providerChecks(recognized), ...unusedChecks(unused, name, isInDoubt)]
}

/** Sends one small authorized request for each scheme that has a credential. */
export async function requestChecks(read: ReadDocument, auth: Auth, signal: AbortSignal): Promise<readonly Check[]> {
  const { testOf } = await import('../setup/test-request.ts')
  const { answered } = await needsOf(read, auth)
  const ready = answered.filter(({ loginRequired }) => !loginRequired)
  const results = await Promise.all(ready.map((scheme) => testOf(scheme, auth, signal)))
  return results.map(({ scheme, answer = '', error }) => {
    const check = `request ${scheme.name}`
    return error ? failed(check, error) : ok(check, `with "${scheme.credential}" ${answer}`)
  })
}

function schemeChecks({ explanation, recognized }: DescribedTarget, name: string): readonly Check[] {
  const { refs, code, message = '', hint } = explanation
  if (code !== undefined) return refs.length > 0 ? [problem('target', code, message, hint ?? 'correct the document')] : []
  return refs.map((ref) => {
    const check = `scheme ${ref.ref}`
    if (ref.code === undefined)
      return ok(check, ref.credential === undefined ? 'needs no credential' : `is answered by "${ref.credential}"`)
    const { message: says = '', hint: advice } = ref
    if (recognized && ref.code === 'NO_CREDENTIAL') return problem(check, ref.code, says, commandFor(recognized))
    const error = new AuthError(ref.code, says, { ref: ref.ref, ...(advice !== undefined && { hint: advice }) })
    return problem(check, ref.code, says, withSetupHint(error, [name]).hint ?? 'stac-auth setup DOC')
  })
}

/** How many unused credentials are named. */
const MOST_IDS = 5

/** Reports the credentials that no target gets in one check; it is a warning only where a target lacks a credential that one of them may be. */
function unusedChecks(unused: readonly CredentialObject[], name: string, isInDoubt: boolean): readonly Check[] {
  if (unused.length === 0) return []
  const ids = unused.slice(0, MOST_IDS).map(({ id }) => `"${id}"`)
  const more = unused.length > MOST_IDS ? ` and ${unused.length - MOST_IDS} more` : ''
  const message = `for no target of the document: ${ids.join(', ')}${more}`
  if (!isInDoubt) return [ok('credentials', message)]
  const hint = `stac-auth explain ${documentWord(name)} shows why; for other documents it may be right`
  return [warning('credentials', 'CREDENTIAL_TARGET_UNTRUSTED', message, hint)]
}
