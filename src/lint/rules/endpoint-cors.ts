import { rule } from '../rule.ts'

/** Pages may use the services that a scheme names. */
export const endpointCors = rule('endpoint-cors', 'online', {
  'endpoint-cors': {
    levels: ['info', 'info', 'off'],
    messages: { closed: 'pages of other origins cannot use it: {request} was answered {answer}' },
  },
})
