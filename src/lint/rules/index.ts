/** The rule catalogue. A case that takes schema violations takes them in this order. */
import type { Rule } from '../rule.ts'
import { alternateWithoutRefs } from './alternate-without-refs.ts'
import { authFieldName } from './auth-field-name.ts'
import { conflictingScheme } from './conflicting-scheme.ts'
import { danglingRef } from './dangling-ref.ts'
import { danglingStorageRef } from './dangling-storage-ref.ts'
import { documentLimit } from './document-limit.ts'
import { documentShape } from './document-shape.ts'
import { documentType } from './document-type.ts'
import { duplicateKey } from './duplicate-key.ts'
import { endpointAnswer } from './endpoint-answer.ts'
import { endpointCors } from './endpoint-cors.ts'
import { endpointMetadata } from './endpoint-metadata.ts'
import { endpointUnreachable } from './endpoint-unreachable.ts'
import { endpointUrl } from './endpoint-url.ts'
import { extensionVersion } from './extension-version.ts'
import { featureVersion } from './feature-version.ts'
import { fieldType } from './field-type.ts'
import { fieldValue } from './field-value.ts'
import { flowsMap } from './flows-map.ts'
import { foreignHostRef } from './foreign-host-ref.ts'
import { foreignProvider } from './foreign-provider.ts'
import { httpSchemeName } from './http-scheme-name.ts'
import { misplacedField } from './misplaced-field.ts'
import { missingResponseField } from './missing-response-field.ts'
import { missingSchemes } from './missing-schemes.ts'
import { notJson } from './not-json.ts'
import { oauthFlow } from './oauth-flow.ts'
import { parameterValue } from './parameter-value.ts'
import { protectedHref } from './protected-href.ts'
import { publicAsHttp } from './public-as-http.ts'
import { refsList } from './refs-list.ts'
import { requiredField } from './required-field.ts'
import { s3PublicBucket } from './s3-public-bucket.ts'
import { s3WithoutStorage } from './s3-without-storage.ts'
import { schemaOfParameter } from './schema-of-parameter.ts'
import { schemeField } from './scheme-field.ts'
import { schemeName } from './scheme-name.ts'
import { schemeOutsideDocument } from './scheme-outside-document.ts'
import { schemeRefs } from './scheme-refs.ts'
import { schemeType } from './scheme-type.ts'
import { schemesMap } from './schemes-map.ts'
import { schemesSummary } from './schemes-summary.ts'
import { scopeUnlisted } from './scope-unlisted.ts'
import { secretInDocument } from './secret-in-document.ts'
import { selfMismatch } from './self-mismatch.ts'
import { signedUrl } from './signed-url.ts'
import { undeclaredExtension } from './undeclared-extension.ts'
import { unreachable } from './unreachable.ts'
import { unusedScheme } from './unused-scheme.ts'

/** All rules, in the order of the catalogue; the last one takes what is left. */
export const rules: readonly Rule[] = [
  undeclaredExtension,
  missingSchemes,
  misplacedField,
  authFieldName,
  extensionVersion,
  featureVersion,
  schemesSummary,
  refsList,
  danglingRef,
  schemeOutsideDocument,
  unusedScheme,
  alternateWithoutRefs,
  foreignHostRef,
  foreignProvider,
  protectedHref,
  signedUrl,
  s3WithoutStorage,
  danglingStorageRef,
  s3PublicBucket,
  endpointUnreachable,
  endpointAnswer,
  endpointMetadata,
  scopeUnlisted,
  endpointCors,
  schemesMap,
  schemeName,
  schemeType,
  requiredField,
  fieldType,
  schemeField,
  fieldValue,
  httpSchemeName,
  publicAsHttp,
  secretInDocument,
  conflictingScheme,
  flowsMap,
  oauthFlow,
  endpointUrl,
  missingResponseField,
  schemaOfParameter,
  parameterValue,
  schemeRefs,
  notJson,
  documentLimit,
  duplicateKey,
  documentType,
  unreachable,
  selfMismatch,
  documentShape,
]
