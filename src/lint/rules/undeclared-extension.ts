import { own } from '../../stac/document.ts'
import type { LintDocument } from '../model.ts'
import { rule } from '../rule.ts'
import { nearestAuthField } from './auth-field-name.ts'

/** A document that uses the fields declares the extension in `stac_extensions`; its wrapper may declare it for all. */
export const undeclaredExtension = rule('undeclared-extension', 'placement', {
  'undeclared-extension': {
    levels: ['error', 'error', 'error'],
    messages: {
      undeclared: 'the document uses auth: fields, but does not declare the authentication extension: add its URL to stac_extensions',
    },
    fix: 'safe',
    claim({ keyword, missing, pointer }, document, report) {
      if (missing !== 'stac_extensions' && !(keyword === 'contains' && pointer === '/stac_extensions')) return false
      const { at, declared, object } = document
      const list = own(object, 'stac_extensions')
      const place = list === undefined ? at : `${at}/stac_extensions`
      if (!declared && usesFields(document)) report(place, 'undeclared', { fix: (list === undefined || Array.isArray(list)) && 'safe' })
      return true
    },
  },
})

/** True for a field of the extension anywhere, also misplaced or misspelt; names such as `auth_token` do not belong to the extension. */
function usesFields({ map, maps, targets, misplacedFields }: LintDocument): boolean {
  const onTarget = targets.some(({ object }) => Object.hasOwn(object, 'auth:refs') || Object.hasOwn(object, 'auth:schemes'))
  return (
    onTarget ||
    map !== undefined ||
    maps.length > 0 ||
    misplacedFields.some(({ field }) => field.startsWith('auth:') || nearestAuthField(field))
  )
}
