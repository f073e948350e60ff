import { awsKeys, eodag, payingReader } from './facts.ts'
import { type AwsKeyValues, credentialsOf, type ProviderCredentials } from './provider.ts'

/**
 * Returns credentials for the bucket of USGS Landsat, which charges the reader.
 *
 * @example createAuth({ credentials: [landsat({ accessKeyId, secretAccessKey })] })
 */
export const landsat: ProviderCredentials<AwsKeyValues<'keys'>> = /* @__PURE__ */ credentialsOf(() => ({
  id: 'landsat',
  title: 'USGS Landsat',
  homepage: 'https://www.usgs.gov/landsat-missions/landsat-data-access',
  account: { url: 'https://aws.amazon.com/', text: 'Create an access key in your AWS account, which pays for transfers.' },
  sources: [
    eodag('usgs_satapi_aws', 'catalog, requester pays'),
    { url: 'https://www.usgs.gov/landsat-missions/spatiotemporal-asset-catalog-stac', proves: 'address of the STAC API' },
    { url: 'https://registry.opendata.aws/usgs-landsat/', proves: 'bucket and region' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://landsatlook.usgs.gov/data/'],
    catalogs: ['https://landsatlook.usgs.gov/'],
    buckets: [{ name: 'usgs-landsat' }],
  },
  ways: [
    {
      id: 'keys',
      when: 'The s3:// alternates of all files, with keys of your AWS account.',
      works: ['unattended'],
      holes: awsKeys(),
      credentials: [payingReader('landsat', 'us-west-2', 's3://usgs-landsat/')],
    },
  ],
  notes: [
    'Each transfer is charged to your AWS account (requester pays).',
    'Files at https://landsatlook.usgs.gov need the login page of USGS: take their s3:// alternates.',
  ],
}))
