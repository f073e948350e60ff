/** Signed URLs in documents that have expired: their errors, and how a download continues with those of the document as it is now. */
import { AuthError, CredentialError } from '../../errors.ts'
import { momentOf } from '../../http/headers.ts'
import { httpsForm } from '../../http/url.ts'
import { urlSignature } from '../../http/url-signature.ts'
import { ownString, type StacDocument } from '../../stac/document.ts'
import { linkOf, type Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forUrl } from '../../text/sanitize.ts'
import type { DownloadOptions, SourceDocument } from './download.ts'
import type { PlannedFile } from './file-plan.ts'
import { originAndPath, type SelectionOptions, selectFiles } from './selected-files.ts'

/** Parameters with the end of a signature in the URLs of other services, and those with the signature itself. */
const END = /^(?:x-)?(?:e|exp|expires?|expiry|expires?_?at|expiration)$/i
const PROOF = /sig(?:nature)?$|token|hmac|hash|policy/i

/** Returns when the signature in the URL of a target ends, in epoch milliseconds; undefined for other URLs. */
function endOf(target: Target): number | undefined {
  const href = httpsForm(target.href) ?? target.href
  if (!canParseUrl(href, target.scope.url)) return undefined
  const url = new URL(href, target.scope.url)
  const signature = urlSignature(url.href)
  if (signature) return signature.expiresAt
  const parameters = [...url.searchParams]
  if (!parameters.some(([name, value]) => PROOF.test(name) && value !== '')) return undefined
  return momentOf(parameters.find(([name]) => END.test(name))?.[1])
}

/** Returns the error of a target whose signed URL is over: `AUTH_REJECTED`; undefined for all others. Sends nothing. */
export function expiredHref(target: Target, now: number): AuthError | undefined {
  const end = endOf(target)
  if (end === undefined || end > now) return undefined
  const message = `the signed URL of this ${target.kind.replace('_', ' ')} expired at ${new Date(end).toISOString()}: ${originAndPath(target).bare}`
  return new CredentialError('AUTH_REJECTED', message, { pointer: `${target.pointer}/href`, hint: readAgainHint(target) })
}

function readAgainHint({ scope: { document } }: Target): string {
  const self = ownString(linkOf(document, 'self')?.object, 'href')
  const from = self !== undefined && /^https?:/i.test(self) && canParseUrl(self) ? `, from ${forUrl(self)}` : ''
  return `read the document again${from}: it has a new URL if its server signs its URLs; no credential helps`
}

/** Statuses with which services refuse a signature that is over. */
const OVER: readonly number[] = [400, 401, 403, 404, 410]

/** Returns the error of a refused target: that its URL has expired, if that is the reason. */
export function asExpired(error: AuthError, target: Target, now: number): AuthError {
  const expired = error.status !== undefined && OVER.includes(error.status) ? expiredHref(target, now) : undefined
  if (!expired) return error
  const { status, url } = error
  const message = `${expired.message} (the server answered ${status})`
  return new AuthError(expired.code, message, { ...expired, ...(status !== undefined && { status }), ...(url !== undefined && { url }) })
}

/** Reads documents again whose signed URLs have expired, and finds the same assets in them. */
export class RereadDocuments {
  readonly #read: NonNullable<DownloadOptions['reread']>
  readonly #choice: SelectionOptions
  /** The latest version of documents. */
  readonly #versions = new Map<StacDocument, Promise<SourceDocument | undefined>>()

  constructor(read: NonNullable<DownloadOptions['reread']>, { alternates }: SelectionOptions) {
    this.#read = read
    this.#choice = alternates ? { alternates } : {}
  }

  /**
   * Returns the file with the targets of its document as it is now, if that has another URL for it; undefined otherwise. A document is read
   * again when its latest version has no other URL. Errors: those of reading.
   */
  async replaced(planned: PlannedFile): Promise<PlannedFile | undefined> {
    const { document, url, parents } = planned.selected.targets[0].scope
    const known = this.#versions.get(document)
    const found = known && replacement(planned, await known, this.#choice)
    if (found) return found
    // Files that failed meanwhile wait for the same version.
    let reading = this.#versions.get(document)
    if (reading === known) {
      const source = { document, parents: parents.map((parent) => parent.document), ...(url !== undefined && { url }) }
      reading = this.#read(source)
      this.#versions.set(document, reading)
    }
    return replacement(planned, await reading, this.#choice)
  }
}

function replacement(planned: PlannedFile, source: SourceDocument | undefined, choice: SelectionOptions): PlannedFile | undefined {
  if (!source) return undefined
  const { key, targets, folder } = planned.selected
  // An object of a folder is not in the document.
  if (folder || targets[0].kind === 'link') return undefined
  for (const selected of selectFiles(source, choice)) {
    if (selected.key !== key) continue
    if (selected.targets.every(({ href }, index) => href === targets[index]?.href)) return undefined
    const { size: _size, ...file } = planned.file
    return { ...planned, selected, file: { ...file, ...(selected.size !== undefined && { size: selected.size }) } }
  }
  return undefined
}
