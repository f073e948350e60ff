/** Keys from AWS services, through the optional package `@aws-sdk/credential-providers`. */
import { type AuthError, CredentialError, isAuthError } from '../../errors.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { installCommand } from '../base/system-error.ts'
import { checkHome } from '../base/user-folder.ts'
import type { AwsUser } from './aws-keys.ts'
import { sourceError } from './secret-source.ts'

/** Keys as returned by the package. */
export interface AwsIdentity {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiration?: Date
}

type Provider = () => Promise<AwsIdentity>

/** The functions of the package that are used. */
export interface AwsProviders {
  fromTemporaryCredentials(options: object): Provider
  fromTokenFile(options: object): Provider
  fromSSO(options: object): Provider
  /** Absent in older versions. */
  fromLoginCredentials?(options: object): Provider
  fromHttp(options: object): Provider
  fromInstanceMetadata(options: object): Provider
}

/** The source of keys to query. */
export interface AwsQuestion {
  /** Name of the source for messages: `profile "eo" (sso_session)`. */
  readonly source: string
  /** Name of the profile, for hints; absent without a profile. */
  readonly profile?: string
  /** Returns the provider; undefined where the installed version lacks it. */
  readonly provider: (aws: AwsProviders) => Provider | undefined
}

/** Settings of the service clients: short timeouts. */
export const SERVICE_CLIENT = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 5_000, requestTimeout: 20_000, throwOnRequestTimeout: true },
} as const

/**
 * Returns the keys.
 *
 * Errors: `LOGIN_REQUIRED` for an expired session of the user; `CREDENTIAL_SOURCE` without the package and for other failures, with the
 * kind of failure but never the text of a service; `CONFIG_INVALID` for a relative home folder.
 */
export async function askAws(question: AwsQuestion, load: () => Promise<AwsProviders> = importProviders): Promise<S3Keys> {
  // The package reads settings, including service endpoints, from the home folder.
  checkHome()
  const aws = await load().catch(() => {
    throw unavailable(question)
  })
  const provider = question.provider(aws)
  if (!provider) throw unavailable(question)
  try {
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provider()
    return {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken && { sessionToken }),
      ...(expiration && { expiration: expiration.getTime() }),
    }
  } catch (error) {
    throw isAuthError(error) ? error : troubleOf(error, question)
  }
}

/** Loads the optional package. Only inside a `try` do bundlers accept that it is missing. */
export async function importProviders(): Promise<AwsProviders> {
  try {
    return await import('@aws-sdk/credential-providers')
  } catch (error) {
    throw new Error('@aws-sdk/credential-providers cannot be imported', { cause: error })
  }
}

function unavailable({ source, profile }: AwsQuestion): AuthError {
  const instead = profile === undefined ? '' : `, or: eval "$(aws configure export-credentials --profile ${profile} --format env)"`
  return sourceError(
    `the keys of ${source} cannot be read: the optional package @aws-sdk/credential-providers is not installed`,
    `${installCommand(['@aws-sdk/credential-providers'])}${instead}`,
  )
}

/** Matches errors of the package after which the user has to log in again. */
const LOGIN = /aws (?:sso )?login\b|\bUnauthorizedException\b/

const SILENT = /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|TimeoutError)\b/

/** Converts an error of the package. Its text may contain account names and tokens and is not used. */
function troubleOf(error: unknown, { source, profile }: AwsQuestion): AuthError {
  const { name = '', message = '', code = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  const text = `${name} ${code} ${message}`
  const named = profile === undefined ? '' : ` --profile ${profile}`
  if (LOGIN.test(text)) {
    return new CredentialError('LOGIN_REQUIRED', `the session behind ${source} has expired or does not exist`, {
      hint: /aws login\b/.test(text) ? `aws login${named}` : `aws sso login${named}`,
    })
  }
  if (SILENT.test(text)) {
    return new CredentialError('CREDENTIAL_SOURCE', `${source} returned no keys: its service is unreachable`, { retryable: true })
  }
  const refused = error instanceof Error && '$metadata' in error && /^\w{1,64}$/.test(name) ? `: AWS returned ${name}` : ''
  return sourceError(`${source} returned no keys${refused}`, `to see why, run: aws sts get-caller-identity${named}`)
}

/**
 * Returns the first of three sources that this machine has; undefined when it has none. The metadata service is used only where the
 * credential allows it.
 */
export async function machineKeys(user: AwsUser): Promise<S3Keys | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: webIdentityTokenFile, AWS_ROLE_ARN: roleArn, AWS_ROLE_SESSION_NAME } = user.environment
  if (webIdentityTokenFile && roleArn) {
    const role = { webIdentityTokenFile, roleArn, ...(AWS_ROLE_SESSION_NAME && { roleSessionName: AWS_ROLE_SESSION_NAME }) }
    return webIdentityKeys('AWS_WEB_IDENTITY_TOKEN_FILE', role, user)
  }
  return (await containerKeys(user)) ?? (await instanceKeys(user))
}

/** A role that is assumed with the token file of an identity provider. */
export function webIdentityKeys(source: string, role: object, { load }: AwsUser, profile?: string): Promise<S3Keys> {
  const provider = { ...role, clientConfig: SERVICE_CLIENT }
  return askAws({ source, ...(profile && { profile }), provider: (aws) => aws.fromTokenFile(provider) }, load)
}

/** Keys of the ECS task or EKS pod; undefined outside such containers. */
export async function containerKeys({ environment, load }: AwsUser): Promise<S3Keys | undefined> {
  const {
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: awsContainerCredentialsRelativeUri,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: awsContainerCredentialsFullUri,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: awsContainerAuthorizationToken,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: awsContainerAuthorizationTokenFile,
  } = environment
  if (!awsContainerCredentialsRelativeUri && !awsContainerCredentialsFullUri) return undefined
  const options = {
    awsContainerCredentialsRelativeUri,
    awsContainerCredentialsFullUri,
    awsContainerAuthorizationToken,
    awsContainerAuthorizationTokenFile,
    maxRetries: 1,
    logger: QUIET,
  }
  return askAws({ source: 'the container', provider: (aws) => aws.fromHttp(options) }, load)
}

/** Keys of the virtual machine; undefined where the credential or the environment disables them. */
export async function instanceKeys({ environment, instanceMetadata, load }: AwsUser): Promise<S3Keys | undefined> {
  if (!instanceMetadata || /^true$/i.test(environment.AWS_EC2_METADATA_DISABLED ?? '')) return undefined
  return askAws({ source: 'the instance metadata', provider: (aws) => aws.fromInstanceMetadata({ maxRetries: 1, logger: QUIET }) }, load)
}

/** Silences the package's logging: a library must not write to the console. */
const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
