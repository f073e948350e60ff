import { baseAddress } from '../clients/base-address.ts'
import { ConfigurationError } from '../errors.ts'
import type { TimeTrackingOptions } from './options.ts'

/**
 * Passes a base address that is encrypted and ends in the segment of the version. Nothing else of the options is looked at.
 *
 * Errors: `URL_INSECURE`, `CONFIG_INVALID`.
 */
export function checkVersionedBase({
  baseUrl,
  allowInsecure,
  versionSegment = 'v1',
}: Pick<TimeTrackingOptions, 'baseUrl' | 'allowInsecure' | 'versionSegment'>): void {
  const { origin, path } = baseAddress(baseUrl, allowInsecure)
  if (versionSegment === false || path.endsWith(`/${versionSegment}`)) return
  const hint = `write ${origin}${path}/${versionSegment}, or say with versionSegment what the last segment is; false: anything`
  throw new ConfigurationError('CONFIG_INVALID', `baseUrl ${origin}${path} does not end in the version, /${versionSegment}`, { hint })
}
