import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import { collect, inOptionGroup, wholeFrom, withCredentialsOption } from '../options.ts'
import type { TimeAction, TimeActionOptions } from '../time/actions.ts'

/** `time projects|customers list|get|create|update|delete`: records of the time-tracking service; other collections by a profile. */
export function addTime(program: Command, context: Context, argv: readonly string[]): void {
  const time = program.command('time').description('manage projects, customers and other records of the time-tracking service')
  addResource(time, 'projects', 'project', context)
  addResource(time, 'customers', 'customer', context)
  const named = collectionIn(argv)
  if (named !== undefined) addResource(time, named, 'record', context)
}

/** Returns the collection that the arguments name besides a profile, which says whether there is one. */
function collectionIn([command, name = '', ...more]: readonly string[]): string | undefined {
  const hasProfile = more.some((word) => /^--profile(?:=|$)/.test(word))
  const isOther = /^\w[\w.-]*$/.test(name) && !['projects', 'customers', 'help'].includes(name)
  return command === 'time' && hasProfile && isOther ? name : undefined
}

function addResource(time: Command, name: string, one: string, context: Context): void {
  const resource = time.command(name).description(`manage ${name}`)
  const add = (words: string, description: string) => withTimeOptions(resource.command(words).description(description))
  const addWriting = (words: string, description: string) =>
    add(words, description)
      .option('--name <name>', 'set the name')
      .option('--set <field=value>', 'set a field; an empty value clears it (repeatable)', collect)
  const act = async (action: TimeAction, id: string | undefined, options: TimeActionOptions) =>
    (await import('../time/actions.ts')).timeAction(action, name, id, options, context)
  const ofAll = (action: TimeAction) => context.run((options: TimeActionOptions) => act(action, undefined, options))
  const ofOne = (action: TimeAction) => context.run((id: string, options: TimeActionOptions) => act(action, id, options))
  inOptionGroup(add('list', `list all ${name}`), 'List:', (group) =>
    group
      .option('--limit <n>', 'print at most this many', wholeFrom(1))
      .option('--page-size <n>', 'request this many at a time, in the parameter that the profile names', wholeFrom(1))
      .option('--query <name=value>', 'send a parameter of the service: customer_id=121 (repeatable)', collect),
  ).action(ofAll('list'))
  add('get <id>', `show a ${one}`).action(ofOne('get'))
  addWriting('create', `create a ${one}`).action(ofAll('create'))
  addWriting('update <id>', `update fields of a ${one}`).action(ofOne('update'))
  add('delete <id>', `delete a ${one}`).action(ofOne('delete'))
}

function withTimeOptions(command: Command): Command {
  withCredentialsOption(command)
  return inOptionGroup(command, 'Service:', (group) =>
    group
      .option('--base-url <url>', 'set the URL, such as https://host.example/api/v1 (default: STAC_AUTH_TIME_URL)')
      .option('--api-version <segment>', 'set the last path segment of the URL (default: v1)')
      .option('--profile <file>', 'read other collections, and how lists are paged, from this JSON file')
      .option('--user-agent <text>', 'send the User-Agent that created the token (default: STAC_AUTH_TIME_USER_AGENT)')
      .addOption(new Option('--auth-header <name>', 'send STAC_AUTH_TIME_TOKEN in this header').choices(['authorization', 'x-api-token']))
      .option('--allow-insecure', 'allow http: to a service on this machine, for tests'),
  ).option('--json', 'print the response as JSON, without its envelope')
}
