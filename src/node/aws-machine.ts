/** Keys that the machine gives to what runs on it: a role by web identity, the agent of a container, the metadata of an instance. */
import type { S3Keys } from '../platform/platform.ts'
import type { AwsUser } from './aws-keys.ts'
import { askAws, SERVICE_CLIENT } from './aws-package.ts'

/** The first of the three that this machine says it has; undefined when it has none. Metadata is asked only where the entry allows it. */
export async function machineKeys(user: AwsUser): Promise<S3Keys | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: webIdentityTokenFile, AWS_ROLE_ARN: roleArn, AWS_ROLE_SESSION_NAME } = user.environment
  if (webIdentityTokenFile && roleArn) {
    const role = { webIdentityTokenFile, roleArn, ...(AWS_ROLE_SESSION_NAME && { roleSessionName: AWS_ROLE_SESSION_NAME }) }
    return webIdentityKeys('AWS_WEB_IDENTITY_TOKEN_FILE', role, user)
  }
  return (await containerKeys(user)) ?? (await instanceKeys(user))
}

/** A role with the token of an identity provider, which a file holds. */
export function webIdentityKeys(source: string, role: object, { load }: AwsUser, profile?: string): Promise<S3Keys> {
  const provider = { ...role, clientConfig: SERVICE_CLIENT }
  return askAws({ source, ...(profile && { profile }), provider: (aws) => aws.fromTokenFile(provider) }, load)
}

/** Keys of the task or pod; undefined outside of containers that have some. */
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

/** Keys of the virtual machine; undefined where the entry or the environment does not want it asked. */
export async function instanceKeys({ environment, instanceMetadata, load }: AwsUser): Promise<S3Keys | undefined> {
  if (!instanceMetadata || /^true$/i.test(environment.AWS_EC2_METADATA_DISABLED ?? '')) return undefined
  return askAws({ source: 'the instance metadata', provider: (aws) => aws.fromInstanceMetadata({ maxRetries: 1, logger: QUIET }) }, load)
}

/** A library does not write to the console of its user. */
const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
