/** The certificate authorities that a user's environment names for other programs, and that are trusted here as well. */
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as tls from 'node:tls'
import { ConfigurationError } from '../../errors.ts'
import { systemCode } from '../base/system-error.ts'

/** Variables of OpenSSL, curl, Python's requests and the AWS tools: each names a file with certificates in PEM, or a folder of such files. */
const VARIABLES = ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'AWS_CA_BUNDLE'] as const

/** What Node itself reads when it starts, and drops where a connection is given authorities of its own. */
export const OF_NODE = 'NODE_EXTRA_CA_CERTS'

/** Certificates in PEM, and the variable and file that they come from. */
export interface NamedAuthorities {
  readonly variable: string
  readonly path: string
  readonly certificates: readonly string[]
}

/**
 * Reads the certificate authorities that the environment names; the same file under several variables once.
 *
 * Errors: `CONFIG_INVALID` where a file cannot be read or has no certificate, as in curl: whoever names one relies on it.
 */
export function namedAuthorities(env: NodeJS.ProcessEnv): readonly NamedAuthorities[] {
  const byPath = new Map<string, NamedAuthorities>()
  for (const variable of VARIABLES) {
    const path = env[variable]
    if (path && !byPath.has(path)) byPath.set(path, { variable, path, certificates: certificatesOf(variable, path) })
  }
  return [...byPath.values()]
}

/**
 * Returns what connections trust: the authorities of Node and those that the environment names. Undefined where it names none: then Node's
 * own default counts. Errors: as for {@link namedAuthorities}.
 */
export function trustedAuthorities(env: NodeJS.ProcessEnv): readonly string[] | undefined {
  const named = namedAuthorities(env).flatMap(({ certificates }) => certificates)
  return named.length === 0 ? undefined : [...defaultAuthorities(env), ...named]
}

/** Returns the certificates in a file or folder. Errors: `CONFIG_INVALID`. */
export function certificatesOf(variable: string, path: string): readonly string[] {
  const texts = readAll(variable, path)
  const certificates = texts.flatMap((text) => text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [])
  if (certificates.length > 0 && certificates.every(isCertificate)) return certificates
  throw invalid(variable, `${path} contains no readable certificate`)
}

function readAll(variable: string, path: string): readonly string[] {
  try {
    const isFolder = statSync(path).isDirectory()
    const files = isFolder ? readdirSync(path, { withFileTypes: true }).filter((entry) => !entry.isDirectory()) : []
    return isFolder ? files.map(({ name }) => readFileSync(join(path, name), 'utf8')) : [readFileSync(path, 'utf8')]
  } catch (error) {
    throw invalid(variable, `${path} cannot be read (${systemCode(error)})`)
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem) !== undefined
  } catch {
    return false
  }
}

/** Node before 22.15 cannot tell what it trusts: the list that it was built with, and the file of its own variable. */
function defaultAuthorities(env: NodeJS.ProcessEnv): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] }
  if (getCACertificates) return getCACertificates('default')
  const own = env[OF_NODE]
  return own ? [...tls.rootCertificates, ...certificatesOf(OF_NODE, own)] : tls.rootCertificates
}

function invalid(variable: string, problem: string): ConfigurationError {
  const hint = `set ${variable} to a file with certificates in PEM, or unset it`
  return new ConfigurationError('CONFIG_INVALID', `the certificate authorities cannot be used: ${variable}: ${problem}`, { hint })
}
