import { awsKeys, eodag, payingReader } from './facts.ts'
import { type AwsKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

/**
 * Returns credentials for the buckets behind Earth Search that charge the reader.
 *
 * @example createAuth({ credentials: [earthSearch({ accessKeyId, secretAccessKey })] })
 */
export const earthSearch: ProviderCredentials<AwsKeyValues<'keys'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'earth-search',
  title: 'Earth Search: buckets at Amazon that charge the reader',
  homepage: 'https://element84.com/earth-search/',
  account: { url: 'https://aws.amazon.com/', text: 'Create an access key in your AWS account, which pays for transfers.' },
  sources: [
    eodag('earth_search', 'catalog, bucket, requester pays'),
    { url: 'https://registry.opendata.aws/sentinel-2/', proves: 'bucket and region of Sentinel-2 L1C, requester pays' },
    { url: 'https://registry.opendata.aws/naip/', proves: 'buckets and region of NAIP, requester pays' },
  ],
  checked: '2026-11-28',
  recognizes: {
    catalogs: ['https://earth-search.aws.element84.com/'],
    buckets: [{ name: 'sentinel-s2-l1c' }, { name: 'naip-analytic' }, { name: 'naip-visualization' }],
  },
  ways: [
    {
      id: 'keys',
      when: 'Files of Sentinel-2 L1C and NAIP, with keys of your AWS account.',
      works: ['unattended'],
      holes: awsKeys(),
      credentials: [
        payingReader('earth-search', 'eu-central-1', 's3://sentinel-s2-l1c/'),
        payingReader('earth-search-naip', 'us-west-2', 's3://naip-analytic/', 's3://naip-visualization/'),
      ],
    },
  ],
  notes: [
    'Each transfer is charged to your AWS account (requester pays).',
    'The COGs of Sentinel-2 L2A are public and need no credential.',
  ],
}))
