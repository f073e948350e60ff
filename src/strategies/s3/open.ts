/** Requests for objects that anybody may read: the https form of `s3://`, without a signature. */
import { platform } from '#platform'
import { type AuthFlow, authorized } from '../../auth/flow.ts'
import type { Resource } from '../../auth/strategy.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { type S3Credential, storagesFor } from './access.ts'
import { addressProblem } from './address-problem.ts'
import { locationOf, placeOf } from './endpoint.ts'

/**
 * The request at the place that the entry covering it names, else the document, else the environment, else Amazon; once more in
 * the region that Amazon names. Nothing of the user's goes along, so the document is free to say where.
 */
export async function* openLegs(request: HttpRequest, { url, target }: Resource, entry: Partial<S3Credential> = {}): AuthFlow {
  const problem = addressProblem(target?.href ?? url)
  if (problem) throw problem
  const environment = platform.s3Keys({})
  const placeIn = (region?: string) =>
    placeOf(url, { entry, environment, storages: storagesFor(target), learned: () => region, trusts: () => true })
  const place = placeIn()
  const response = yield { ...authorized({ ...request, url: place.url }), location: locationOf(place) }
  const region = regionIn(response)
  if (region === undefined || region === place.region) return
  const other = placeIn(region)
  if (other.url !== place.url) yield { ...authorized({ ...request, url: other.url }), location: locationOf(other) }
}

/** The region of an answer that is about nothing else: a redirect without an address, or a refusal of this host. */
function regionIn({ status, headers }: HttpResponse): string | undefined {
  const elsewhere = (status === 301 && headers.get('location') === null) || status === 400
  return elsewhere ? (headers.get('x-amz-bucket-region') ?? undefined) : undefined
}
