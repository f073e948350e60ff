/** The rule catalogue. A rule that takes schema violations takes them in this order. */

import type { Rule } from '../rule.ts'
import { alternateWithoutRefs } from './alternate-without-refs.ts'
import { apikeyIn } from './apikey-in.ts'
import { apikeyName } from './apikey-name.ts'
import { chainInputType } from './chain-input-type.ts'
import { conflictingScheme } from './conflicting-scheme.ts'
import { credentialParameter } from './credential-parameter.ts'
import { customType } from './custom-type.ts'
import { danglingRef } from './dangling-ref.ts'
import { deprecatedFlow } from './deprecated-flow.ts'
import { documentLimit } from './document-limit.ts'
import { documentShape } from './document-shape.ts'
import { duplicateKey } from './duplicate-key.ts'
import { duplicateRef } from './duplicate-ref.ts'
import { fieldType } from './field-type.ts'
import { flowName } from './flow-name.ts'
import { flowsEmpty } from './flows-empty.ts'
import { flowsShape } from './flows-shape.ts'
import { foreignHostRef } from './foreign-host-ref.ts'
import { hrefInvalid } from './href-invalid.ts'
import { httpSchemeCase } from './http-scheme-case.ts'
import { httpSchemeInvalid } from './http-scheme-invalid.ts'
import { httpSchemeUnregistered } from './http-scheme-unregistered.ts'
import { insecureEndpoint } from './insecure-endpoint.ts'
import { insecureHref } from './insecure-href.ts'
import { methodCase } from './method-case.ts'
import { misappliedField } from './misapplied-field.ts'
import { misplacedRefs } from './misplaced-refs.ts'
import { misplacedSchemes } from './misplaced-schemes.ts'
import { missingResponseField } from './missing-response-field.ts'
import { missingSchemes } from './missing-schemes.ts'
import { missingType } from './missing-type.ts'
import { misspeltAuthField } from './misspelt-auth-field.ts'
import { multipleExtensionVersions } from './multiple-extension-versions.ts'
import { nestedScheme } from './nested-scheme.ts'
import { notJson } from './not-json.ts'
import { openapiKeyword } from './openapi-keyword.ts'
import { openidDiscoveryUrl } from './openid-discovery-url.ts'
import { parameterBodyWithGet } from './parameter-body-with-get.ts'
import { parameterIn } from './parameter-in.ts'
import { parameterNeedsCallback } from './parameter-needs-callback.ts'
import { parameterSchema } from './parameter-schema.ts'
import { parameterSchemaUnsafe } from './parameter-schema-unsafe.ts'
import { publicAsHttp } from './public-as-http.ts'
import { refsEmpty } from './refs-empty.ts'
import { refsOnDocument } from './refs-on-document.ts'
import { refsShape } from './refs-shape.ts'
import { relativeAuthorizationApi } from './relative-authorization-api.ts'
import { requiredField } from './required-field.ts'
import { s3PublicBucket } from './s3-public-bucket.ts'
import { s3WithoutStorage } from './s3-without-storage.ts'
import { schemeHrefMismatch } from './scheme-href-mismatch.ts'
import { schemeName } from './scheme-name.ts'
import { schemeNameType } from './scheme-name-type.ts'
import { schemeOutsideDocument } from './scheme-outside-document.ts'
import { schemeRefCycle } from './scheme-ref-cycle.ts'
import { schemeRefDangling } from './scheme-ref-dangling.ts'
import { schemesEmpty } from './schemes-empty.ts'
import { schemesInSummaries } from './schemes-in-summaries.ts'
import { schemesOnTarget } from './schemes-on-target.ts'
import { schemesShape } from './schemes-shape.ts'
import { secretInDocument } from './secret-in-document.ts'
import { selfMismatch } from './self-mismatch.ts'
import { signedHref } from './signed-href.ts'
import { signedMethod } from './signed-method.ts'
import { storageVersionMismatch } from './storage-version-mismatch.ts'
import { subjectTokenType } from './subject-token-type.ts'
import { summariesShape } from './summaries-shape.ts'
import { tokenExchangeInput } from './token-exchange-input.ts'
import { typeNearMiss } from './type-near-miss.ts'
import { undeclaredExtension } from './undeclared-extension.ts'
import { unknownAuthField } from './unknown-auth-field.ts'
import { unknownDocument } from './unknown-document.ts'
import { unknownExtensionVersion } from './unknown-extension-version.ts'
import { unknownField } from './unknown-field.ts'
import { unknownFlow } from './unknown-flow.ts'
import { unreachable } from './unreachable.ts'
import { unusedScheme } from './unused-scheme.ts'
import { urlFormat } from './url-format.ts'
import { urlScheme } from './url-scheme.ts'
import { versionMismatch } from './version-mismatch.ts'

/** All rules, in the order of the catalogue; the last one takes what is left. */
export const rules: readonly Rule[] = [
  undeclaredExtension,
  missingSchemes,
  misplacedSchemes,
  misplacedRefs,
  schemesOnTarget,
  refsOnDocument,
  misspeltAuthField,
  unknownAuthField,
  unknownExtensionVersion,
  multipleExtensionVersions,
  versionMismatch,
  storageVersionMismatch,
  summariesShape,
  schemesInSummaries,
  refsShape,
  danglingRef,
  schemeOutsideDocument,
  duplicateRef,
  refsEmpty,
  unusedScheme,
  alternateWithoutRefs,
  foreignHostRef,
  schemeHrefMismatch,
  hrefInvalid,
  insecureHref,
  signedHref,
  s3WithoutStorage,
  s3PublicBucket,
  schemesShape,
  schemesEmpty,
  schemeName,
  missingType,
  typeNearMiss,
  customType,
  requiredField,
  fieldType,
  misappliedField,
  unknownField,
  nestedScheme,
  apikeyIn,
  apikeyName,
  httpSchemeInvalid,
  httpSchemeUnregistered,
  httpSchemeCase,
  openidDiscoveryUrl,
  publicAsHttp,
  schemeNameType,
  secretInDocument,
  conflictingScheme,
  flowsShape,
  flowsEmpty,
  flowName,
  unknownFlow,
  deprecatedFlow,
  urlFormat,
  urlScheme,
  relativeAuthorizationApi,
  insecureEndpoint,
  signedMethod,
  methodCase,
  missingResponseField,
  parameterIn,
  parameterBodyWithGet,
  parameterSchema,
  parameterSchemaUnsafe,
  openapiKeyword,
  parameterNeedsCallback,
  credentialParameter,
  schemeRefDangling,
  schemeRefCycle,
  tokenExchangeInput,
  chainInputType,
  subjectTokenType,
  notJson,
  documentLimit,
  duplicateKey,
  unknownDocument,
  unreachable,
  selfMismatch,
  documentShape,
]
