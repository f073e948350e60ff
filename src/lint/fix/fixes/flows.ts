import { isObject, own } from '../../../stac/json.ts'
import { valueAt } from '../../pointer.ts'
import { type Fix, remove, renameToNear, replaceWithNear } from '../fix.ts'

/** A flow object that stands where its name should: its fields tell which flow it is. */
const nameFlow: Fix = (text, { pointer, value, root }) => {
  const type = own(valueAt(root, pointer.slice(0, -'/flows'.length)), 'type')
  if (!isObject(value) || Object.values(value).some((inner) => isObject(inner) && own(inner, 'scopes') !== undefined)) return undefined
  const [authorize, token] = [own(value, 'authorizationUrl'), own(value, 'tokenUrl')]
  const oauth = token === undefined ? 'implicit' : authorize === undefined ? 'clientCredentials' : 'authorizationCode'
  return text.nest(pointer, type === 'signedUrl' ? 'authorizationCode' : oauth)
}

/** Port 80 belongs to http. Without its slashes an address is left to a person. */
const useHttps: Fix = (text, { pointer, value }) => {
  const secure = String(value).replace(/^http:\/\/([^/?#]*?)(?::80)?(?=[/?#]|$)/i, 'https://$1')
  return secure === value ? undefined : text.replace(pointer, secure)
}

/** Fixes of the section `flows`, by rule id. */
export const flows: Readonly<Record<string, Fix>> = {
  'flows-shape': nameFlow,
  'flow-name': renameToNear,
  'insecure-endpoint': useHttps,
  'method-case': (text, { pointer, value }) => text.replace(pointer, String(value).toUpperCase()),
  'parameter-schema': (text, { pointer, value }) => (Array.isArray(own(value, 'examples')) ? undefined : text.wrap(`${pointer}/examples`)),
  'scheme-ref-dangling': replaceWithNear,
  'subject-token-type': remove,
}
