import * as providers from '@aws-sdk/credential-providers'
import { expect, it } from 'vitest'
import { type AwsProviders, askAws, importProviders } from '../../src/node/credentials/aws-package.ts'
import { failureOf } from '../harness/failure.ts'

it('loads the package by the name that exports the required functions', async () => {
  const needed: AwsProviders = providers
  expect((await importProviders()).fromSSO).toBe(needed.fromSSO)
})

const person = { source: 'profile "person" (sso_session)', profile: 'person' }

it.each([
  ['is not installed', () => Promise.reject(new Error('not installed'))],
  ['is too old for what is wanted', async () => ({ ...providers, fromLoginCredentials: undefined })],
])('explains how to continue where it %s', async (_what, load) => {
  const error = await failureOf(askAws({ ...person, provider: (aws) => aws.fromLoginCredentials?.({}) }, load))
  expect(error).toMatchObject({
    code: 'CREDENTIAL_SOURCE',
    message:
      'the keys of profile "person" (sso_session) cannot be read: the optional package @aws-sdk/credential-providers is not installed',
    hint: expect.stringContaining('npm install @aws-sdk/credential-providers, or: eval "$(aws configure export-credentials'),
  })
})

it.each([
  ['Your session has expired. Please reauthenticate using `aws login`.', 'LOGIN_REQUIRED', 'aws login --profile person'],
  ['Token is expired. To refresh this SSO session run aws sso login', 'LOGIN_REQUIRED', 'aws sso login --profile person'],
  ['something else', 'CREDENTIAL_SOURCE', 'to see why, run: aws sts get-caller-identity --profile person'],
])('recognizes the error of the package: %s', async (words, code, hint) => {
  const provider = () => () => Promise.reject(new Error(words))
  expect(await failureOf(askAws({ ...person, provider }))).toMatchObject({ code, hint })
})
