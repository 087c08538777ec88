// Writes the license texts of all packages in a `node_modules` folder to standard output. The
// container build runs it: `node third-party-notices.ts node_modules > THIRD-PARTY-NOTICES.txt`.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  name?: string;
  version?: string;
  license?: string | { type: string };
  author?: string | { name?: string };
}

const folder = process.argv[2];
if (!folder) throw new Error('Usage: node third-party-notices.ts <node_modules>');

/** A package has a name and a version; other package.json files only set a module type. */
const packages = globSync('**/package.json', { cwd: folder })
  .map(file => join(folder, file))
  .map(file => ({ at: dirname(file), ...(JSON.parse(readFileSync(file, 'utf8')) as Manifest) }))
  .filter(({ at, name, version }) => name && version && at.endsWith(`node_modules/${name}`))
  .map(each => ({ ...each, title: `${each.name} ${each.version}` }))
  .sort((a, b) => a.title.localeCompare(b.title, 'en'));

const nameOf = (value?: string | { name?: string; type?: string }) =>
  typeof value === 'string' ? value : (value?.type ?? value?.name ?? 'unknown');

const written = new Set<string>();
for (const { at, title, license, author } of packages) {
  if (written.has(title)) continue;
  written.add(title);
  const texts = globSync('{LICENSE,LICENCE,License,license,NOTICE}{,.*,-*}', { cwd: at })
    .sort()
    .map(file => readFileSync(join(at, file), 'utf8').trim());
  const text =
    texts.join('\n\n') || `The package contains no license text. Author: ${nameOf(author)}.`;
  process.stdout.write(`${'='.repeat(80)}\n${title}\nLicense: ${nameOf(license)}\n\n${text}\n\n`);
}
