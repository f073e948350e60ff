import { rule } from '../rule.ts'

/** An object contains each name once. */
export const duplicateKey = rule('duplicate-key', 'run', {
  'duplicate-key': {
    levels: ['warn', 'error', 'off'],
    messages: { repeated: '"{name}" appears twice in one object, and only the later counts: remove one' },
  },
})
