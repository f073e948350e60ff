/** Providers: archives and platforms that the program knows. Each function makes credentials of what only the user has. */
export { brazilDataCube } from './brazil-data-cube.ts'
export { capella } from './capella.ts'
export { ceda } from './ceda.ts'
export { copernicus } from './copernicus.ts'
export { creodias } from './creodias.ts'
export { destine } from './destine.ts'
export { dlr } from './dlr.ts'
export { earthSearch } from './earth-search.ts'
export { earthdaily } from './earthdaily.ts'
export { earthdata } from './earthdata.ts'
export { ecmwfAds } from './ecmwf-ads.ts'
export { ecmwfCds } from './ecmwf-cds.ts'
export { ecmwfEwds } from './ecmwf-ewds.ts'
export { eodms } from './eodms.ts'
export { eumetsat } from './eumetsat.ts'
export { geodes } from './geodes.ts'
export { hydrowebNext } from './hydroweb-next.ts'
export { landsat } from './landsat.ts'
export { meteoblue } from './meteoblue.ts'
export { nciSara } from './nci-sara.ts'
export { openeoCdse } from './openeo-cdse.ts'
export { planet } from './planet.ts'
export { planetaryComputer } from './planetary-computer.ts'
export {
  type ApiKeyValues,
  type AwsKeyValues,
  type Bucket,
  type ClientValues,
  type CredentialTemplate,
  credentialsFrom,
  type Hole,
  type KeyValues,
  type NoValues,
  type Order,
  type OrderRequest,
  type OrderStatus,
  type Provider,
  type ProviderCredentials,
  type PublicClientValues,
  type Recognized,
  type Source,
  type TokenValues,
  type UserValues,
  type UserWithCodeValues,
  type Way,
} from './provider.ts'
export { createRecognizer, type Recognition, type Recognizer, type UrlContext } from './recognize.ts'
export { providers } from './registry.ts'
export { sentinelHub } from './sentinel-hub.ts'
export { terrascope } from './terrascope.ts'
export { theia } from './theia.ts'
export { umbra } from './umbra.ts'
export { up42 } from './up42.ts'
export { vantor } from './vantor.ts'
export { wekeo } from './wekeo.ts'
