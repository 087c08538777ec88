import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readApiConfig } from '../../api/config.ts';
import { processVariables, readConfig } from '../../common/config.ts';
import { FONT_PACKAGES } from '../../standalone/fonts.ts';
import { readWorkerConfig } from '../../worker/config.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/**
 * The folders that each image has: those that its process may import. Only the API needs the folders
 * of `common`.
 */
const FOLDERS: Record<string, string[]> = {
  api: ['api', 'common'],
  worker: ['common/*.ts', 'worker'],
  controller: ['common/*.ts', 'controller', 'crds'],
};

/** Files of other folders that an image has: the command `pressroom`. */
const FILES: Record<string, string[]> = {
  api: stage('api').flatMap(line => {
    const folder = /^COPY (cli\/\w+) \1$/.exec(line)?.[1];
    if (folder) return readdirSync(join(ROOT, folder)).map(file => join(folder, file));
    return /^COPY (cli\/.*) cli\/$/.exec(line)?.[1]?.split(/\s+/) ?? [];
  }),
};

/** The instructions of one stage, each in one line. */
function stage(name: string): string[] {
  const lines = read('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const first = lines.findIndex(line => line.startsWith('FROM ') && line.endsWith(` AS ${name}`));
  const length = lines.slice(first + 1).findIndex(line => line.startsWith('FROM '));
  return lines.slice(first + 1, length < 0 ? undefined : first + 1 + length);
}

/** The words behind `command` in a stage, up to the next command, without options. */
const wordsAfter = (command: string, name: string) =>
  stage(name)
    .find(line => line.includes(command))!
    .split(command)[1]!
    .split('&&')[0]!
    .trim()
    .split(/\s+/)
    .filter(word => !word.startsWith('-'));

const sourcesOf = (folderPattern: string) => {
  const folder = folderPattern.replace('/*.ts', '');
  return readdirSync(join(ROOT, folder), { recursive: folder === folderPattern, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => join(folder, file));
};

/** Those that are loaded when they are needed too; not what a type comes from. */
const importsOf = (file: string) =>
  [
    ...read(file).matchAll(
      /^(?:import|export) (?!type )[^;']*?from '([^']+)'|(?<!typeof )\bimport\('([^']+)'\)/gm,
    ),
  ].map(([, target, later]) => (target ?? later)!);

const packagesOf = (files: string[]) =>
  files
    .flatMap(importsOf)
    .filter(target => !target.startsWith('.') && !target.startsWith('node:'))
    .map(target => target.split('/', target.startsWith('@') ? 2 : 1).join('/'));

const { dependencies, overrides } = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  overrides: Record<string, Record<string, string>>;
};

describe('the Dockerfile', () => {
  it('uses one base image, pinned by a digest, for each image', () => {
    const [, name, base] = /^ARG (\w+)=(.*)$/m.exec(read('Dockerfile'))!;
    expect(base).to.match(/^debian:bookworm-\d{8}-slim@sha256:[0-9a-f]{64}$/);
    const stages = [...read('Dockerfile').matchAll(/^FROM (\S+) AS (\S+)$/gm)].map(
      ([, from, as]) => [from, as],
    );
    const known = new Set([`\${${name}}`, ...stages.map(([, as]) => as)]);
    expect(stages.filter(([from]) => !known.has(from))).to.deep.equal([]);
  });

  it('installs the fonts of the list by default, and a variant has all except those for CJK', () => {
    const [without = [], cjk = []] = stage('worker')
      .map(line => [...line.matchAll(/\bfonts-[a-z-]+(?= |$)/g)].map(([name]) => name))
      .filter(names => names.length > 0);
    expect(stage('worker')).to.include('ARG FONTS=all');
    expect(cjk).to.deep.equal(['fonts-noto-cjk']);
    expect([...without, ...cjk].sort()).to.deep.equal([...FONT_PACKAGES].sort());
  });

  for (const [image, folders] of Object.entries(FOLDERS)) {
    it(`copies the folders that its process imports into the image ${image}`, () => {
      const copied = stage(image).flatMap(
        line =>
          /^COPY (\w+) \1$|^COPY (\w+\/\*\.ts) \w+\/$/.exec(line)?.slice(1).find(Boolean) ?? [],
      );
      expect(copied.sort()).to.deep.equal(folders);
    });

    it(`keeps exactly the packages that these folders import in the image ${image}`, () => {
      const imported = packagesOf([...folders.flatMap(sourcesOf), ...(FILES[image] ?? [])]);
      // An override may say that a package uses the version of this repository, which must then exist.
      const required = new Set([
        ...imported,
        ...imported.flatMap(name => Object.keys(overrides[name] ?? {})),
      ]);
      const removed = wordsAfter('npm uninstall', `${image}-packages`);
      expect(removed.sort()).to.deep.equal(
        Object.keys(dependencies)
          .filter(name => !required.has(name))
          .sort(),
      );
    });

    it(`starts the image ${image} with the flags of \`npm start\``, () => {
      const [, flags] = /^const NODE_FLAGS = \[(.*)\];$/m.exec(read('standalone/launch.mjs'))!;
      const entry = JSON.parse(
        stage(image)
          .find(line => line.startsWith('ENTRYPOINT '))!
          .slice('ENTRYPOINT '.length),
      );
      const expected = [
        'node',
        ...JSON.parse(`[${flags!.replaceAll("'", '"')}]`),
        `/app/${image}/main.ts`,
      ];
      expect(entry.slice(entry.indexOf('node'))).to.deep.equal(expected);
      const [, arenas] = /MALLOC_ARENA_MAX: .* \?\? '(\d+)'/.exec(read('standalone/launch.mjs'))!;
      expect(stage(image).join('\n')).to.include(`ENV MALLOC_ARENA_MAX=${arenas} `);
      // Compiled code is of no use to a Node with other flags.
      expect(stage(image).join('\n')).to.include(
        `'${[...expected.slice(0, -1), `${image}/main.ts`].join(' ')} 2>/dev/null`,
      );
    });
  }

  it('copies the whole command `pressroom` into the image api', () => {
    const files = FILES.api!;
    expect(files).to.include('cli/in-image.ts');
    const needed = files.flatMap(file =>
      importsOf(file)
        .filter(target => target.startsWith('.'))
        .map(target => join(dirname(file), target)),
    );
    expect(
      needed.filter(
        file => !file.startsWith('api/') && !file.startsWith('common/') && !files.includes(file),
      ),
    ).to.deep.equal([]);
  });

  it('exposes the ports that the processes listen on by default', () => {
    const operations = readConfig(processVariables, {}).PRESSROOM_OPERATIONS_PORT;
    expect(stage('api')).to.include(`EXPOSE ${readApiConfig({}).http.port} ${operations}`);
    expect(stage('worker')).to.include(`EXPOSE ${readWorkerConfig({}).gateway.port} ${operations}`);
  });
});
