/** Object stores: what lies in a folder, such as a Zarr store or any asset that is more than one file. */
export { type ListOptions, listObjects, type StoredObject } from './list-objects.ts'
