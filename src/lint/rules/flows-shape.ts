import { isObject, own } from '../../stac/json.ts'
import { isFlat } from '../read-model.ts'
import type { Rule } from '../rule.ts'

/** `flows` maps names to flow objects. */
export const flowsShape: Rule = {
  meta: {
    id: 'flows-shape',
    section: 'flows',
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

/** Why the rule exists, for its page. */
export const docs =
  'A flow object written directly into flows lacks the name of the flow. Examples of older versions of the extension showed that shape.'
