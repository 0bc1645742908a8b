/** @file The customer models that ship with the page: the folders `models/customers/<name>/`, in the layout of transformers.js. */
import type { OnnxDtype } from '../records/user.ts';
import { precisionsOf } from './precision.ts';

const urls = import.meta.glob<string>(['../../models/customers/*/onnx/*', '../../models/customers/*/*.{json,jinja}'], {
  query: '?url',
  import: 'default',
  eager: true,
});

const FOLDER = '../../models/customers/';
const files = Object.keys(urls).map((path) => path.slice(FOLDER.length));

/** The paths of a bundled model's files. */
export const bundledPaths = (name: string): string[] =>
  files.filter((file) => file.startsWith(`${name}/`)).map((file) => file.slice(name.length + 1));

/** The bundled models, with the precisions of each. Empty if the build has no such folders. */
export function bundledCustomers(): { model: string; precisions: OnnxDtype[] }[] {
  const names = [...new Set(files.map((file) => file.split('/')[0]!))];
  return names.map((model) => ({ model, precisions: precisionsOf(bundledPaths(model)) })).filter(({ precisions }) => precisions.length > 0);
}

/** A file of a bundled model; null if the model has no such file. */
export async function bundledFile(name: string, path: string): Promise<Response | null> {
  const url = urls[`${FOLDER}${name}/${path}`];
  return url === undefined ? null : fetch(url);
}
