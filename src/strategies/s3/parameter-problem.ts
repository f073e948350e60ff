import { UnsupportedError } from '../../errors.ts'

/**
 * What rules the query of an address out for a signature: `URL_INVALID`; else undefined. Parameters named `x-amz-…` are part of
 * a signature (AWS, "Authenticating requests: using query parameters") and say who pays and how long it lasts, which is for
 * the user alone to say.
 */
export function parameterProblem(url: string): UnsupportedError | undefined {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  const name = [...new URLSearchParams(url.slice(start + 1)).keys()].find((name) => /^x-amz-/i.test(name))?.toLowerCase()
  if (name === undefined) return undefined
  return new UnsupportedError('URL_INVALID', `this address cannot be signed: its query has parameters that are part of a signature`, {
    url,
    hint: HINTS[name] ?? 'use the address without the parameters that begin with x-amz-',
  })
}

const HINTS: { readonly [name: string]: string } = {
  'x-amz-request-payer': 'who pays is said by "requesterPays" of the entry: use the address without that parameter',
  'x-amz-signature': 'use the https address for which it was signed',
}
