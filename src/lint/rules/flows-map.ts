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
  'flows-shape':
    'A flow object written directly into flows lacks the name of the flow. Examples of older versions of the extension showed that shape.',
  'flows-empty': 'Without a flow there is no way to a token or a signed URL.',
}
