import { rule } from '../rule.ts'

/** The name of a scheme is one that programs can use as a key. */
export const schemeName = rule('scheme-name', 'schemes', {
  'scheme-name': {
    levels: ['warn', 'warn', 'off'],
    messages: { bad: '"{name}" is a bad name for a scheme: use letters, digits, hyphens and underscores' },
    scheme({ name, pointer }, report) {
      if (BAD.test(name)) report(pointer, 'bad', { name })
    },
  },
})

const BAD = /^$|^\s|\s$|[\0-\x1f\x7f]|^(?:__proto__|constructor|prototype)$/
