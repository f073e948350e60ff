import { rule } from '../rule.ts'

/** The services that a scheme names answer. */
export const endpointUnreachable = rule('endpoint-unreachable', 'online', {
  'endpoint-unreachable': {
    levels: ['warn', 'error', 'off'],
    messages: { silent: '{request} did not succeed: {reason}' },
  },
})
