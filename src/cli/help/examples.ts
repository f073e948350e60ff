/** Examples in the help text of each command, by its name after `stac-auth`. The manual pages have them too. */
import type { Command } from 'commander'

const RESOURCES = ['projects', 'customers'].flatMap((name): (readonly [string, readonly string[]])[] => [
  [`time ${name}`, [`stac-auth time ${name} list`, `stac-auth time ${name} get 42 --json`]],
  [`time ${name} list`, [`stac-auth time ${name} list`, `stac-auth time ${name} list --json | jq '.[].id'`]],
  [`time ${name} get`, [`stac-auth time ${name} get 42`]],
  [`time ${name} create`, [`stac-auth time ${name} create --name 'Sea ice'`]],
  [`time ${name} update`, [`stac-auth time ${name} update 42 --name 'Sea ice' --set note=`]],
  [`time ${name} delete`, [`stac-auth time ${name} delete 42`]],
])

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  '': [
    'stac-auth setup item.json',
    'stac-auth run item.json -- gdalinfo {B04}',
    'stac-auth download item.json -d data',
    'stac-auth lint catalog.json --crawl',
  ],
  lint: [
    'stac-auth lint item.json',
    "stac-auth lint 'items/**/*.json' --fix",
    'stac-auth lint https://catalog.example/catalog.json --crawl --sample 5',
    'stac-auth lint . --format sarif=lint.sarif --baseline known.json',
  ],
  merge: ['stac-auth merge part1.json part2.json --format markdown'],
  rules: ['stac-auth rules', 'stac-auth rules dangling-ref'],
  queue: ['stac-auth queue work -d /mnt/archive', 'stac-auth queue show -d /mnt/archive', 'stac-auth queue failed -d /mnt/archive'],
  'queue work': [
    'stac-auth queue work --queue redis://127.0.0.1:6379',
    'STAC_AUTH_QUEUE=rediss://queue.example stac-auth queue work -d /mnt/archive',
  ],
  'queue show': ['stac-auth queue show', 'stac-auth queue show -d /mnt/archive --json'],
  'queue workers': ['stac-auth queue workers -d /mnt/archive'],
  'queue pause': ['stac-auth queue pause -d /mnt/archive'],
  'queue resume': ['stac-auth queue resume -d /mnt/archive'],
  'queue drain': ['stac-auth queue drain -d /mnt/archive --yes'],
  'queue retry': ['stac-auth queue retry -d /mnt/archive'],
  'queue failed': ['stac-auth queue failed -d /mnt/archive --json', 'stac-auth queue failed -d /mnt/archive --clear'],
  explain: ['stac-auth explain item.json', 'stac-auth explain item.json --asset B04 --json'],
  authorize: [
    'stac-auth authorize item.json --asset B04',
    'stac-auth authorize item.json --asset B04 --as curl --reveal | sh > B04.tif',
    'stac-auth authorize item.json --asset B04 --as json | jq .headers',
    'stac-auth authorize item.json --asset scene --as url --expires 600 --reveal',
    'stac-auth authorize --as ndjson --reveal < items.ndjson > requests.ndjson',
    'stac-auth authorize items.ndjson --as ndjson --asset data --expires 3600 --min-validity 30m --reveal',
  ],
  fetch: [
    'stac-auth fetch item.json --asset metadata',
    'stac-auth fetch item.json --asset B04 -o B04.tif',
    'stac-auth fetch item.json --asset B04 -o data/ --force',
    'stac-auth fetch https://data.example/items/1 | jq .assets',
  ],
  download: [
    'stac-auth download item.json -d data',
    "stac-auth download 'items/*.json' -d data --role data --type image/tiff --dry-run",
    "stac-auth download 'https://api.example/search?limit=50' --crawl -d data --asset B04",
    'stac-auth download items/ -d /mnt/archive --queue redis://127.0.0.1',
  ],
  verify: ['stac-auth verify data', 'stac-auth verify data --remote --json'],
  list: ['stac-auth list item.json --asset zarr', 'stac-auth list s3://bucket/folder/ --limit 100'],
  gateway: [
    'stac-auth gateway item.json',
    'gdalinfo /vsicurl/BASE/https/data.example/a/B04.tif',
    'stac-auth gateway --listen ~/gateway.sock',
    'curl --unix-socket ~/gateway.sock BASE/https/data.example/a/B04.tif -O',
  ],
  run: ['stac-auth run item.json -- gdalinfo {B04}', 'stac-auth run https://api.example/ -- python3 browse.py {catalog}'],
  setup: [
    'stac-auth setup item.json',
    'stac-auth setup copernicus',
    'stac-auth setup https://catalog.example/item.json --browser',
    'stac-auth setup item.json --json',
  ],
  providers: ['stac-auth providers', 'stac-auth providers copernicus'],
  login: ['stac-auth login item.json', 'stac-auth login portal --browser'],
  logout: ['stac-auth logout portal', 'stac-auth logout --all'],
  doctor: ['stac-auth doctor', 'stac-auth doctor item.json', 'stac-auth doctor --json | jq \'.[] | select(.level != "ok")\''],
  status: ['stac-auth status', 'stac-auth status --json | jq \'.[] | select(.state == "expired")\''],
  credentials: ['stac-auth credentials list', 'stac-auth credentials add item.json'],
  'credentials list': ['stac-auth credentials list', 'stac-auth credentials list credentials.json --json'],
  'credentials check': ['stac-auth credentials check', 'stac-auth credentials check credentials.json'],
  'credentials add': ['stac-auth credentials add item.json', 'stac-auth credentials add item.json --id portal --scope read'],
  'credentials trust': ['stac-auth credentials trust portal https://mirror.example/'],
  'credentials remove': ['stac-auth credentials remove portal'],
  translate: [
    "stac-auth translate 'Sea ice' --to DE",
    'stac-auth translate guide.docx --to DE --output-dir translated',
    'stac-auth translate --usage',
  ],
  'translate catalog': [
    'stac-auth translate catalog catalog.json --to DE -o catalog.de.json',
    'stac-auth translate catalog catalog.json --to DE --memory ~/translations.json > catalog.de.json',
  ],
  'translate glossaries': ['stac-auth translate glossaries list', 'stac-auth translate glossaries create terms.csv --from EN --to DE'],
  'translate glossaries list': ["stac-auth translate glossaries list --json | jq -r '.[].glossary_id'"],
  'translate glossaries get': ['stac-auth translate glossaries get def3a26b-3e84-45b3-84ae-0c0aaf3525f7'],
  'translate glossaries create': ["stac-auth translate glossaries create terms.csv --from EN --to DE --name 'Sea ice'"],
  'translate glossaries delete': ['stac-auth translate glossaries delete def3a26b-3e84-45b3-84ae-0c0aaf3525f7'],
  'translate style-rules': ['stac-auth translate style-rules list'],
  'translate style-rules list': ['stac-auth translate style-rules list --json'],
  'translate languages': ['stac-auth translate languages list'],
  'translate languages list': ['stac-auth translate languages list', 'stac-auth translate languages list --resource glossary --json'],
  time: ['stac-auth time projects list', "stac-auth time customers create --name 'Sea ice'"],
  ...Object.fromEntries(RESOURCES),
  completion: ['eval "$(stac-auth completion bash)"', 'stac-auth completion fish > ~/.config/fish/completions/stac-auth.fish'],
}

/** Returns the examples of a command of the program; none for an unknown one. */
export function examplesOf(command: Command): readonly string[] {
  const name = pathOf(command)
  return Object.hasOwn(EXAMPLES, name) ? (EXAMPLES[name] ?? []) : []
}

/** Adds the examples to the help texts of a command and of those below it. */
export function addExamples(command: Command): void {
  const examples = examplesOf(command)
  if (examples.length > 0) command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`)
  for (const below of command.commands) addExamples(below)
}

/** The name of a command after that of the program. */
function pathOf(command: Command): string {
  const above = command.parent
  return above === null ? '' : [pathOf(above), command.name()].filter(Boolean).join(' ')
}
