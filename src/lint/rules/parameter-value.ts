import { own } from '../../stac/document.ts'
import { rule } from '../rule.ts'
import { isCredentialHeader } from '../secrets.ts'

export const parameterValue = rule('parameter-value', 'flows', {
  'parameter-needs-callback': {
    levels: ['info', 'info', 'off'],
    messages: { value: 'clients cannot derive the parameter "{name}" from the asset: users must supply it' },
    parameter({ name, value, pointer }, report) {
      if (own(value, 'required') === true && !KNOWN.has(name) && !isCredentialHeader(name, value)) report(pointer, 'value', { name })
    },
  },
  'credential-parameter': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      credential: 'the parameter "{name}" carries a credential, which clients do not fill in: name a scheme in auth:refs (1.2.0)',
    },
    parameter({ name, value, pointer }, report) {
      if (isCredentialHeader(name, value)) report(pointer, 'credential', { name })
    },
  },
})

const KNOWN = new Set(['href', 'url', 'bucket', 'key'])
