import { UnsupportedError } from '../../errors.ts'

/** Kinds of resources that are not plain buckets, by their names and hosts. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^arn:[\w-]*:s3-outposts|\.s3-outposts[.-]/, 'Outposts'],
  [/^arn:[\w-]*:s3-object-lambda|\.s3-object-lambda[.-]/, 'Object Lambda access points'],
  [/^arn:.*\.mrap\b|\.accesspoint\.s3-global\./, 'multi-region access points (Signature Version 4A)'],
  [/^arn:.*\baccesspoint\b|\.s3-accesspoint[.-]/, 'access points'],
  [/^arn:/, 'resource names (ARN)'],
  [/\.s3express-|--x-s3(\.|$)/, 'directory buckets'],
]

/** What rules an address out for S3, as the document writes it: `SCHEME_UNSUPPORTED`, `URL_INVALID`; else undefined. */
export function addressProblem(href: string): UnsupportedError | undefined {
  const [, scheme = '', resource = ''] = /^(s3:\/\/|https?:\/\/)?(arn:.*|[^/?#]*)/is.exec(href) ?? []
  const named = UNSUPPORTED.find(([pattern]) => pattern.test(resource.toLowerCase()))?.[1]
  if (named && (scheme || resource.startsWith('arn:'))) {
    return new UnsupportedError('SCHEME_UNSUPPORTED', `S3 ${named} are not supported: use the address of the bucket`, { url: href })
  }
  if (!/^s3:/i.test(href)) return undefined
  if (!/^s3:\/\/[\w.-]+([/?#]|$)/i.test(href)) return new UnsupportedError('URL_INVALID', 'an s3 address is s3://bucket/key', { url: href })
  if (!/\/(\.|%2e){1,2}([/?#]|$)/i.test(href.slice(5))) return undefined
  return new UnsupportedError('URL_INVALID', 'a key with "." or ".." between slashes cannot travel in a URL', { url: href })
}
