import type { HashName } from '../../../platform/platform.ts'

/** Strongest first (RFC 7616 §3.7). */
export const ALGORITHMS: readonly HashName[] = ['SHA-512-256', 'SHA-256', 'MD5']
