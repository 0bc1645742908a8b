/** Writes the tables in the documents that are generated from the code. Usage: npm run docs */
import { writeFileSync } from 'node:fs';
import { documents, readDocument, withTables } from './doc-tables.ts';

for (const path of documents()) {
  const text = readDocument(path);
  const written = withTables(path, text);
  if (written === text) continue;
  writeFileSync(new URL(`../${path}`, import.meta.url), written);
  console.log(`${path} written`);
}
