import { isObject, own } from '../../stac/document.ts'
import { isFlat } from '../read-model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** `flows` maps names to flow objects. */
const flowsShape: RuleCase = {
  meta: {
    code: 'flows-shape',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { shape: 'flows must map flow names to flows, such as { "clientCredentials": { … } }' },
    fix: 'suggestion',
  },
  claim({ place, keyword, pointer }, { at }, report) {
    if (place !== 'flows' || keyword !== 'type') return false
    report(at + pointer, 'shape', { fix: false })
    return true
  },
  scheme({ value, type, pointer }, report) {
    const flows = type === 'oauth2' || type === 'signedUrl' ? own(value, 'flows') : undefined
    if (isObject(flows) && isFlat(flows)) report(`${pointer}/flows`, 'shape')
  },
}

/** There is at least one flow. */
const flowsEmpty: RuleCase = {
  meta: {
    code: 'flows-empty',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { empty: 'flows is empty: describe at least one flow' },
  },
  scheme({ value, type, pointer }, report) {
    const flows = type === 'oauth2' || type === 'signedUrl' ? own(value, 'flows') : undefined
    if (isObject(flows) && Object.keys(flows).length === 0) report(`${pointer}/flows`, 'empty')
  },
}

export const flowsMap: Rule = {
  meta: { id: 'flows-map', section: 'flows' },
  cases: [flowsShape, flowsEmpty],
}

export const docs: RuleDocs = {
  'flows-shape': {
    part: 'oauth2-flow-object',
    why: 'flows maps the names of flows to flows. Without the name a client does not know which flow the fields describe. Examples of older versions of the extension showed this shape.',
    repair: [
      'Put the fields into an object under the name of the flow, such as authorizationCode.',
      'For signedUrl any name is allowed; authorizationCode is usual.',
    ],
  },
  'flows-empty': {
    part: 'oauth2-flow-object',
    why: 'Without a flow a client has no way to get a token or a signed URL.',
    repair: ['Add the flow that the service offers, such as authorizationCode.', 'Add the URLs that the flow requires.'],
  },
}
