import { formPairs } from '../service/form-pairs.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { refuse } from './answers.ts'
import { type FormValue, nestedForm } from './nested-form.ts'
import type { Switches } from './options.ts'

/** The fields of a body. Anything but a correct form is refused, and is a violation. */
export function readForm(switches: Switches, { headers, body }: ServiceRequest): Readonly<Record<string, FormValue>> {
  const type = headers['content-type']
  if (body.length === 0 && type === undefined) return {}
  if (!/^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i.test(type ?? '')) {
    refuse(switches, 415, 'Unsupported media type', { violation: `a body of type ${type}` })
  }
  try {
    return nestedForm(formPairs(body.toString('latin1')))
  } catch (error) {
    const message = `Not a form: ${error instanceof Error ? error.message : error}`
    return refuse(switches, 400, message, { violation: message })
  }
}
