/** The version of this package, where no file can be read; a test compares it with `package.json`. */
export const PACKAGE_VERSION = '0.1.0'
