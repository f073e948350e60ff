/** Providers: archives and platforms that the program knows. Each function makes credentials of what only the user has. */
export { copernicus } from './copernicus.ts'
export { creodias } from './creodias.ts'
export { dlr } from './dlr.ts'
export { earthSearch } from './earth-search.ts'
export { earthdata } from './earthdata.ts'
export { eodms } from './eodms.ts'
export { eumetsat } from './eumetsat.ts'
export { landsat } from './landsat.ts'
export { openeoCdse } from './openeo-cdse.ts'
export { planet } from './planet.ts'
export { planetaryComputer } from './planetary-computer.ts'
export {
  type Bucket,
  type CredentialTemplate,
  credentialsFrom,
  type Hole,
  type Provider,
  type ProviderCredentials,
  type Recognized,
  type Source,
  type ValuesOf,
  type ValuesOfWay,
  type Way,
} from './provider.ts'
export { createRecognizer, type Recognition, type Recognizer, type UrlContext } from './recognize.ts'
export { providers } from './registry.ts'
export { sentinelHub } from './sentinel-hub.ts'
export { terrascope } from './terrascope.ts'
