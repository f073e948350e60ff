import { type AwsKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const EARTH_SEARCH = {
  id: 'earth-search',
  title: 'Earth Search: buckets at Amazon that charge the reader',
  homepage: 'https://element84.com/earth-search/',
  account: { url: 'https://aws.amazon.com/', text: 'Create an access key in your AWS account, which pays for transfers.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/earth_search.yml',
      proves: 'catalog, bucket, requester pays',
    },
    { url: 'https://registry.opendata.aws/sentinel-2/', proves: 'bucket and region of Sentinel-2 L1C, requester pays' },
    { url: 'https://registry.opendata.aws/naip/', proves: 'buckets and region of NAIP, requester pays' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: [],
    catalogs: ['https://earth-search.aws.element84.com/'],
    issuers: [],
    buckets: [{ name: 'sentinel-s2-l1c' }, { name: 'naip-analytic' }, { name: 'naip-visualization' }],
  },
  ways: [
    {
      id: 'keys',
      when: 'Files of Sentinel-2 L1C and NAIP, with keys of your AWS account.',
      works: ['unattended'],
      holes: {
        accessKeyId: { label: 'Access key id', kind: 'secret', env: ['AWS_ACCESS_KEY_ID'] },
        secretAccessKey: { label: 'Secret access key', kind: 'secret', env: ['AWS_SECRET_ACCESS_KEY'] },
        sessionToken: { label: 'Session token, with temporary keys', kind: 'secret', env: ['AWS_SESSION_TOKEN'], optional: true },
      },
      credentials: [
        {
          id: 'earth-search',
          type: 's3',
          region: 'eu-central-1',
          requesterPays: true,
          accessKeyId: { hole: 'accessKeyId' },
          secretAccessKey: { hole: 'secretAccessKey' },
          sessionToken: { hole: 'sessionToken' },
          sendTo: ['s3://sentinel-s2-l1c/'],
          use: 'by-address',
        },
        {
          id: 'earth-search-naip',
          type: 's3',
          region: 'us-west-2',
          requesterPays: true,
          accessKeyId: { hole: 'accessKeyId' },
          secretAccessKey: { hole: 'secretAccessKey' },
          sessionToken: { hole: 'sessionToken' },
          sendTo: ['s3://naip-analytic/', 's3://naip-visualization/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'Each transfer is charged to your AWS account (requester pays).',
    'The COGs of Sentinel-2 L2A are public and need no credential.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for the buckets behind Earth Search that charge the reader.
 *
 * @example createAuth({ credentials: [earthSearch({ accessKeyId, secretAccessKey })] })
 */
export const earthSearch: ProviderCredentials<AwsKeyValues<'keys'>> = /* @__PURE__ */ credentialsOf(EARTH_SEARCH)
