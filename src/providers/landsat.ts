import { type AwsKeyValues, credentialsOf, type Provider, type ProviderCredentials } from './provider.ts'

const LANDSAT = {
  id: 'landsat',
  title: 'USGS Landsat',
  homepage: 'https://www.usgs.gov/landsat-missions/landsat-data-access',
  account: { url: 'https://aws.amazon.com/', text: 'Create an access key in your AWS account, which pays for transfers.' },
  sources: [
    {
      url: 'https://github.com/CS-SI/eodag/blob/develop/eodag/resources/providers/usgs_satapi_aws.yml',
      proves: 'catalog, requester pays',
    },
    { url: 'https://www.usgs.gov/landsat-missions/spatiotemporal-asset-catalog-stac', proves: 'address of the STAC API' },
    { url: 'https://registry.opendata.aws/usgs-landsat/', proves: 'bucket and region' },
  ],
  checked: '2026-11-28',
  recognizes: {
    files: ['https://landsatlook.usgs.gov/data/'],
    catalogs: ['https://landsatlook.usgs.gov/'],
    issuers: [],
    buckets: [{ name: 'usgs-landsat' }],
  },
  ways: [
    {
      id: 'keys',
      when: 'The s3:// alternates of all files, with keys of your AWS account.',
      works: ['unattended'],
      holes: {
        accessKeyId: { label: 'Access key id', kind: 'secret', env: ['AWS_ACCESS_KEY_ID'] },
        secretAccessKey: { label: 'Secret access key', kind: 'secret', env: ['AWS_SECRET_ACCESS_KEY'] },
        sessionToken: { label: 'Session token, with temporary keys', kind: 'secret', env: ['AWS_SESSION_TOKEN'], optional: true },
      },
      credentials: [
        {
          id: 'landsat',
          type: 's3',
          region: 'us-west-2',
          requesterPays: true,
          accessKeyId: { hole: 'accessKeyId' },
          secretAccessKey: { hole: 'secretAccessKey' },
          sessionToken: { hole: 'sessionToken' },
          sendTo: ['s3://usgs-landsat/'],
          use: 'by-address',
        },
      ],
    },
  ],
  notes: [
    'Each transfer is charged to your AWS account (requester pays).',
    'Files at https://landsatlook.usgs.gov need the login page of USGS: take their s3:// alternates.',
  ],
} as const satisfies Provider

/**
 * Returns credentials for the bucket of USGS Landsat, which charges the reader.
 *
 * @example createAuth({ credentials: [landsat({ accessKeyId, secretAccessKey })] })
 */
export const landsat: ProviderCredentials<AwsKeyValues<'keys'>> = /* @__PURE__ */ credentialsOf(LANDSAT)
