import { isObject, own } from '../../stac/document.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** `auth:schemes` belongs at the root, or in `properties` of an Item. */
const misplacedSchemes: RuleCase = {
  meta: {
    code: 'misplaced-schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misplaced: 'clients do not look for auth:schemes in {found}: move it to {place}' },
    fix: 'suggestion',
  },
  claim: ({ keyword, name }) => keyword === 'false schema' && name === 'auth:schemes',
  document({ misplacedFields, kind, map, object }, report) {
    const place = kind === 'item' ? 'properties' : 'the root of the document'
    for (const { field, pointer, place: found, holder } of misplacedFields) {
      const free = kind === 'item' && holder === 'document' && !map && isObject(own(object, 'properties'))
      if (field === 'auth:schemes') report(pointer, 'misplaced', { place, found, fix: free && 'suggestion' })
    }
  },
}

/** `auth:refs` belongs on what it protects. */
const misplacedRefs: RuleCase = {
  meta: {
    code: 'misplaced-refs',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: {
      misplaced: 'clients do not look for auth:refs in {place}: put it on an asset, an alternate, a link or, from 1.2.0, a scheme',
    },
  },
  claim: ({ keyword, name }) => keyword === 'false schema' && name === 'auth:refs',
  document({ misplacedFields, kind }, report) {
    for (const { field, pointer, place, holder } of misplacedFields) {
      const onDocument = holder === 'properties' || (holder === 'document' && (kind === 'collection' || kind === 'catalog'))
      if (field === 'auth:refs' && !onDocument) report(pointer, 'misplaced', { place })
    }
  },
}

/** Schemes are written once per document, not on each asset. */
const schemesOnTarget: RuleCase = {
  meta: {
    code: 'schemes-on-target',
    severity: { recommended: 'warn', strict: 'error', schema: 'error' },
    messages: { 'on-target': 'most clients do not look for auth:schemes on assets and links: move it to {place}' },
    fix: 'suggestion',
  },
  target(target, report) {
    if (!target.hasSchemes) return
    report(`${target.pointer}/auth:schemes`, 'on-target', {
      place: target.document.kind === 'item' ? 'properties' : 'the root of the document',
    })
  },
}

/** A whole document cannot be protected by refs. */
const refsOnDocument: RuleCase = {
  meta: {
    code: 'refs-on-document',
    severity: { recommended: 'warn', strict: 'error', schema: 'error' },
    messages: { 'on-document': 'auth:refs on a whole document protects nothing: put it on assets and links' },
  },
  document({ misplacedFields, kind }, report) {
    for (const { field, pointer, holder } of misplacedFields) {
      const onDocument = holder === 'properties' || (holder === 'document' && (kind === 'collection' || kind === 'catalog'))
      if (field === 'auth:refs' && onDocument) report(pointer, 'on-document')
    }
  },
}

export const misplacedField: Rule = {
  meta: { id: 'misplaced-field', section: 'placement' },
  cases: [misplacedSchemes, misplacedRefs, schemesOnTarget, refsOnDocument],
}

export const docs: RuleDocs = {
  'misplaced-schemes': {
    part: 'fields',
    why: 'Clients look for schemes in one place per kind of document: in properties of an Item, at the root of a Collection or Catalog. Schemes elsewhere are not found, and all references to them are undefined.',
    repair: ['Move auth:schemes to the place that the message names.', 'If there is one already, merge the two maps.'],
  },
  'misplaced-refs': {
    part: 'fields',
    why: 'Clients read references on assets, alternate assets, links and, from 1.2.0 on, schemes. References elsewhere protect nothing: what they were meant for is requested as public.',
    repair: [
      'Move auth:refs to every asset and link that needs authentication.',
      'To chain schemes, put auth:refs on the scheme itself, not into flows.',
    ],
  },
  'schemes-on-target': {
    part: 'fields',
    why: 'The schema of the extension does not allow schemes on assets and links, and few clients look for them there.',
    repair: [
      'Move the schemes to properties of the Item, or to the root of the Collection or Catalog.',
      'Keep auth:refs on the asset or link.',
    ],
  },
  'refs-on-document': {
    part: 'fields',
    why: 'Clients send credentials only for assets and links that refer to a scheme. References of a document are not inherited by its assets and links, so those are requested as public.',
    repair: ['Copy auth:refs to every asset and link that needs authentication.', 'Remove it from the document.'],
  },
}
