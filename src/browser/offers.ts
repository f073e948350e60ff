/** The credentials that the author of a page offers: which one a refused request lacks. */
import { createAuth } from '../auth/create-auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { covers, parseUrlPattern } from '../auth/url-pattern.ts'
import { isAuthError } from '../errors.ts'
import type { Target } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import type { DescribeOptions, FormField } from './credential-form.ts'
import type { OfferedCredential } from './live-auth.ts'

/**
 * Returns the offer that would be used for a URL, or by the references of a target, if its secrets were known: the most preferred one, then
 * the first.
 */
export async function offerFor(
  given: Target | string,
  offers: readonly OfferedCredential[],
  preferred: readonly string[],
  options: DescribeOptions,
): Promise<OfferedCredential | undefined> {
  const address = addressOf(given)
  if (address === undefined) return undefined
  const rank = ({ id }: OfferedCredential) => (preferred.includes(id) ? preferred.indexOf(id) : preferred.length)
  const isCovered = ({ sendTo }: OfferedCredential) => [sendTo].flat().some((pattern) => covers(parseUrlPattern(pattern), address))
  const possible = offers.filter(isCovered).sort((one, other) => rank(one) - rank(other))
  if (typeof given === 'string' || given.refs.length === 0) return possible[0]
  for (const offer of possible) if (await answers(offer, given, options)) return offer
  return undefined
}

function addressOf(given: Target | string): URL | undefined {
  if (typeof given === 'string') return canParseUrl(given) ? new URL(given) : undefined
  try {
    return new URL(targetAddress(given))
  } catch {
    return undefined
  }
}

/** True when the offer, with other secrets, would be used for a target. */
async function answers(offer: OfferedCredential, target: Target, options: DescribeOptions): Promise<boolean> {
  const { credentialOfForm, formFor } = await import('./form-models.ts')
  try {
    const model = await formFor(offer, options)
    const values = Object.fromEntries(model.fields.flatMap((field) => (field.required ? [[field.name, anyValue(field)]] : [])))
    const credential = await credentialOfForm(model, values, { ...model, id: offer.id }, options)
    const { refs } = await createAuth({ ...options, credentials: [credential] }).explain(target)
    return refs.some(({ credential: id }) => id === offer.id)
  } catch (error) {
    // Of no use in a page, or with a secret of which not every text is one.
    if (isAuthError(error)) return false
    throw error
  }
}

function anyValue({ type, options }: FormField): string {
  return options?.[0] ?? (type === 'url' ? 'https://host.invalid/' : '1')
}
