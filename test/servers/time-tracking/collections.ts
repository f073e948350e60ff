import type { Reply } from '../service/reply.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { enveloped, refuse } from './answers.ts'
import { PAGE_PARAMETERS, pageOf } from './pages.ts'
import { projectFields, projectView } from './projects.ts'
import { readForm } from './read-form.ts'
import { newProject, type Row, type TimeTrackingState } from './state.ts'

/** Lists, reads, makes, changes or deletes records of one collection. */
export function performOn(state: TimeTrackingState, name: string, request: ServiceRequest, origin: string): Reply {
  const { switches } = state
  const rows = state.collections.get(name)
  if (!rows) return refuse(switches, 404, 'Not found')
  const action = String(request.route.op).replace(/^.*\./, '')
  if (name === 'customers' && action !== 'update' && !switches.customerVerbs) return refuse(switches, 404, 'Not found')
  if (action === 'none') return refuse(switches, 405, 'Method not allowed', { headers: { Allow: 'GET, POST' } })
  refuseUnknownQuery(state, name, action, request)
  if (action === 'list')
    return pageOf(
      switches,
      request,
      [...rows.values()].map((each) => view(state, name, each, false)),
      origin,
    )
  if (action === 'create') return create(state, name, rows, request)
  const id = request.params.id ?? ''
  const row = rows.get(id)
  if (!row) return refuse(switches, 404, `There is no ${id} in ${name}`)
  if (action === 'get') return enveloped(switches, view(state, name, row, true))
  if (action === 'update') return update(state, name, row, request)
  rows.delete(id)
  return { status: 200, body: '' }
}

function refuseUnknownQuery({ switches }: TimeTrackingState, name: string, action: string, { query }: ServiceRequest): void {
  if (switches.allowExtra || !['projects', 'customers'].includes(name)) return
  const known = action === 'list' ? PAGE_PARAMETERS[switches.paging] : []
  const unknown = query.find(([key]) => !known.includes(key))?.[0]
  if (unknown !== undefined) refuse(switches, 400, 'Unknown parameter', { violation: `the unknown parameter ${unknown}` })
}

function create(state: TimeTrackingState, name: string, rows: Map<string, Row>, request: ServiceRequest): Reply {
  const fields = fieldsOf(state, name, request)
  if (['projects', 'customers'].includes(name)) requireName(state, name, fields)
  const id = state.nextId++
  const row = { id, ...(name === 'projects' && newProject(state.clock.now())), ...fields }
  rows.set(String(id), row)
  return enveloped(state.switches, view(state, name, row, true))
}

/** A part of the fields is enough. */
function update(state: TimeTrackingState, name: string, row: Row, request: ServiceRequest): Reply {
  const { switches, clock } = state
  const fields = fieldsOf(state, name, request)
  if (name === 'customers') requireName(state, name, fields)
  Object.assign(row, fields, name === 'projects' && { changed: clock.now() })
  if (name !== 'customers' || switches.customerAnswer === 'record') return enveloped(switches, view(state, name, row, true))
  return switches.customerAnswer === 'empty' ? { status: 200, body: '' } : enveloped({ ...switches, envelope: 'none' }, row)
}

function fieldsOf({ switches }: TimeTrackingState, name: string, request: ServiceRequest): Row {
  const form = readForm(switches, request)
  if (name === 'projects') return projectFields(switches, form)
  const unknown = name === 'customers' && !switches.allowExtra ? Object.keys(form).find((field) => field !== 'name') : undefined
  if (unknown !== undefined) refuse(switches, 400, 'Unknown field', { violation: `the unknown field ${unknown}` })
  return { ...form }
}

function requireName({ switches }: TimeTrackingState, collection: string, { name }: Row): void {
  if (typeof name === 'string' && name.trim() !== '') return
  const status = collection === 'projects' ? 422 : 400
  refuse(switches, status, 'Validation failed', { problems: [{ field: 'name', message: 'is required' }] })
}

function view(state: TimeTrackingState, name: string, row: Row, single: boolean): Row {
  return name === 'projects' ? projectView(state, row, single) : row
}
