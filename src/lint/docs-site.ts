/** Where the documentation is published. */
export const DOCS_SITE = 'https://stac-auth.github.io/'
