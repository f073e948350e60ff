/**
 * A catalog in another language: `npx tsx examples/translate-catalog.ts FILE LANGUAGE`. The key is in STAC_AUTH_TRANSLATION_KEY; a service
 * other than the public one is named in STAC_AUTH_TRANSLATION_URL.
 */
import { readFile } from 'node:fs/promises'
import { TranslationClient, translateCatalog } from 'stac-auth/translation'

const [file = 'examples/items/sentinel-2.json', language = 'DE'] = process.argv.slice(2)
const { STAC_AUTH_TRANSLATION_KEY: apiKey = '', STAC_AUTH_TRANSLATION_URL: baseUrl } = process.env

// http: is for a service on this very machine only.
const client = new TranslationClient({ apiKey, ...(baseUrl && { baseUrl, allowInsecure: 'loopback' }) })
const copy = await translateCatalog(client, await readFile(file, 'utf8'), { target_lang: language })

for (const pointer of copy.kept) console.error(`${pointer}: a part is left as it was`)
console.error(`${copy.places} texts, ${copy.characters} characters`)
process.stdout.write(copy.text)
