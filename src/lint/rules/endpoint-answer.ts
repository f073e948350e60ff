import { rule } from '../rule.ts'

/** The services that a scheme names answer a request without a credential as the standards say. */
export const endpointAnswer = rule('endpoint-answer', 'online', {
  'endpoint-answer': {
    levels: ['warn', 'error', 'off'],
    messages: { other: '{request} was answered {answer}: expected {expected}' },
  },
})
