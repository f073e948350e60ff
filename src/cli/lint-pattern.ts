/** Which documents an override of the configuration is about. */
import type { Covers } from '../lint/config/config.ts'

/** Makes a test of a glob. */
export type Glob = (glob: string, options: { readonly dot: boolean }) => Covers

/**
 * An address covers what begins like it, whole path segments; a pattern without a slash is a file name in any folder, one
 * that ends in a slash all that is below that folder; everything else is a glob.
 */
export function patternOf(pattern: string, glob: Glob): Covers {
  if (/^https?:\/\//i.test(pattern)) return (document) => isBelow(document, pattern)
  const plain = pattern.replace(/^\.\//, '')
  const covers = glob(plain.includes('/') ? plain.replace(/\/$/, '/**') : `**/${plain}`, { dot: true })
  return (document) => !document.includes('://') && covers(document.replace(/^\.\//, ''))
}

function isBelow(document: string, prefix: string): boolean {
  if (!document.startsWith(prefix)) return false
  return prefix.endsWith('/') || document.length === prefix.length || /[/?#]/.test(document[prefix.length] ?? '')
}
