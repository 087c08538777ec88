import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = normalize(join(dirname(fileURLToPath(import.meta.url)), '../..'));

/** Who may import whom. A folder may always import itself. */
const FOLDERS: Record<string, string[]> = {
  common: [],
  crds: [],
  api: ['common'],
  worker: ['common'],
  controller: ['common', 'crds'],
  // The contract, and types of the management API. A test limits it to these.
  dashboard: ['common', 'api'],
  standalone: ['common', 'crds', 'api', 'worker', 'controller'],
  cli: ['common', 'api', 'worker', 'controller', 'standalone'],
  // What is generated from the processes' own schemas, and checked against them.
  tools: ['common', 'crds', 'api', 'worker', 'controller', 'standalone'],
  // The images, and the programs that `npm start` also runs.
  release: ['standalone'],
  // The benchmarks start the service by the fixtures of the tests, and some tests use their
  // documents.
  bench: ['common', 'crds', 'api', 'worker', 'controller', 'standalone', 'test'],
  test: [
    'common',
    'crds',
    'api',
    'worker',
    'controller',
    'standalone',
    'cli',
    'dashboard',
    'tools',
    'bench',
    'release',
  ],
};

/** Packages that speak to the outside, and the one file or folder that imports each. */
const OWNERS: Record<string, string | string[]> = {
  mongodb: 'api/store/',
  'chrome-remote-interface': 'api/workers/connections.ts',
  // Both ends of it.
  ws: ['worker/gateway/', 'api/workers/status-link.ts'],
  'prom-client': 'common/operations.ts',
  'ipaddr.js': 'common/addresses.ts',
  'pdf-lib': 'api/pdf/',
  piscina: 'api/pdf/',
  '@kubernetes/client-node': 'controller/',
  stripe: 'api/console/billing/',
  'oidc-provider': 'api/console/oauth/',
  '@modelcontextprotocol/server': 'api/console/mcp/',
  '@node-rs/argon2': 'api/console/security/',
  otpauth: 'api/console/auth/',
  'openid-client': 'api/console/sso/',
  koa: 'api/',
  commander: 'cli/',
  'mongodb-memory-server-core': 'standalone/',
  '@puppeteer/browsers': 'standalone/',
  pino: 'common/log.ts',
  'pino-pretty': 'standalone/',
};

interface Import {
  file: string;
  target: string;
  typeOnly: boolean;
}

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', '*.ts', '*.tsx', '*.mjs'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  // git lists what was deleted until that is committed.
  .filter(file => file.includes('/') && !file.endsWith('.d.ts') && existsSync(join(ROOT, file)));

function importsOf(file: string): Import[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const statements = source.matchAll(
    /^\s*(?:import|export)\s(type\s)?[^;'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  );
  return [...statements].map(match => ({
    file,
    target: (match[2] ?? match[3] ?? match[4])!,
    typeOnly: match[1] !== undefined,
  }));
}

const imports = files.flatMap(importsOf);
const folder = (file: string) => file.split('/')[0]!;
/** What no process of the product runs. */
const isTest = (file: string) => ['test', 'bench', 'tools', 'release'].includes(folder(file));
const inside = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(each => ({ ...each, to: normalize(join(dirname(each.file), each.target)) }));
const outside = imports
  .filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))
  .map(each => ({
    ...each,
    pkg: each.target
      .split('/')
      .slice(0, each.target.startsWith('@') ? 2 : 1)
      .join('/'),
  }));

/** Tarjan's strongly connected components of more than one node. */
function cyclesOf(edges: Iterable<readonly [string, string]>): string[][] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  function visit(node: string): void {
    const at = index.size;
    index.set(node, at);
    low.set(node, at);
    stack.push(node);
    for (const to of next.get(node) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(node, Math.min(low.get(node)!, low.get(to)!));
    }
    if (low.get(node) !== at) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) found.push(component.sort());
  }
  for (const node of next.keys()) if (!index.has(node)) visit(node);
  return found;
}

describe('the architecture', () => {
  it('reads the imports of every folder', () => {
    expect(new Set(files.map(folder))).to.include.members([
      'common',
      'api',
      'worker',
      'standalone',
      'test',
    ]);
    expect(inside.length).to.be.greaterThan(100);
  });

  it('has no file outside the listed folders', () => {
    expect(files.filter(file => !(folder(file) in FOLDERS))).to.deep.equal([]);
  });

  it('lets a folder import only what the design allows', () => {
    const wrong = inside.filter(
      ({ file, to }) => folder(file) !== folder(to) && !FOLDERS[folder(file)]?.includes(folder(to)),
    );
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).to.deep.equal([]);
  });

  it('lets the dashboard import only the contract, and types of the management API', () => {
    const wrong = inside.filter(
      ({ file, to, typeOnly }) =>
        folder(file) === 'dashboard' &&
        folder(to) !== 'dashboard' &&
        !to.startsWith('common/contract/') &&
        !(typeOnly && to.startsWith('api/console/contract/')),
    );
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).to.deep.equal([]);
  });

  it('keeps the contract of the API out of the images of worker and controller', () => {
    const wrong = inside.filter(
      ({ file, to }) =>
        ['worker', 'controller', 'crds'].includes(folder(file)) &&
        to.startsWith('common/contract/'),
    );
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).to.deep.equal([]);
    const above = inside.filter(
      ({ file, to }) => /^common\/[^/]+$/.test(file) && to.startsWith('common/contract/'),
    );
    expect(above.map(({ file, to }) => `${file} -> ${to}`)).to.deep.equal([]);
  });

  it('imports no main.ts', () => {
    expect(
      inside
        .filter(({ to }) => /(^|\/)main\.ts$/.test(to))
        .map(({ file, to }) => `${file} -> ${to}`),
    ).to.deep.equal([]);
  });

  it('imports each package for an external system in one place', () => {
    const owns = (file: string, pkg: string) =>
      [OWNERS[pkg]!].flat().some(owner => file.startsWith(owner));
    const wrong = outside.filter(
      ({ pkg, file }) => OWNERS[pkg] !== undefined && !isTest(file) && !owns(file, pkg),
    );
    expect(wrong.map(({ file, pkg }) => `${file} -> ${pkg}`)).to.deep.equal([]);
  });

  it('uses only packages at run time that are installed without the tests', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    // The page is built ahead, with its packages inside.
    const running = outside.filter(({ file }) => !isTest(file) && folder(file) !== 'dashboard');
    const wrong = running.filter(({ pkg, typeOnly }) => !typeOnly && !(pkg in dependencies));
    expect(wrong.map(({ file, pkg }) => `${file} -> ${pkg}`)).to.deep.equal([]);
  });

  it('imports modules of Node with node:', () => {
    expect(
      outside
        .filter(({ target }) => builtinModules.includes(target))
        .map(({ file, target }) => `${file} -> ${target}`),
    ).to.deep.equal([]);
  });

  it('keeps common to at most 10 small files', () => {
    expect(files.filter(file => dirname(file) === 'common').length).to.be.at.most(10);
  });

  it('has no cycle of folders, including imports of types', () => {
    const product = inside.filter(({ file }) => !isTest(file));
    expect(cyclesOf(product.map(({ file, to }) => [dirname(file), dirname(to)]))).to.deep.equal([]);
  });

  it('has no cycle of files', () => {
    const product = inside.filter(({ file }) => !isTest(file));
    expect(cyclesOf(product.map(({ file, to }) => [file, to]))).to.deep.equal([]);
  });

  it('gives each exported name one meaning', () => {
    const owners = new Map<string, string[]>();
    for (const file of files.filter(each => !['test', 'bench'].includes(folder(each))))
      for (const [, name] of readFileSync(join(ROOT, file), 'utf8').matchAll(
        /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
      ))
        owners.set(name!, [...new Set([...(owners.get(name!) ?? []), file])]);
    const twice = [...owners].filter(([, exporters]) => exporters.length > 1);
    expect(twice).to.deep.equal([]);
  });

  it('finds a planted cycle', () => {
    expect(
      cyclesOf([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
        ['c', 'd'],
      ]),
    ).to.deep.equal([['a', 'b', 'c']]);
  });

  it('lets only the wiring of the API import the console', () => {
    const wiring = ['api/api.ts', 'api/app.ts', 'api/config.ts', 'api/main.ts'];
    const wrong = inside.filter(
      ({ file, to }) =>
        folder(file) === 'api' &&
        !file.startsWith('api/console/') &&
        to.startsWith('api/console/') &&
        !wiring.includes(file),
    );
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).to.deep.equal([]);
  });

  it('has no file over 360 lines, and no test over 460, unless its first lines say why', () => {
    const long = files.filter(file => {
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
      const most = folder(file) === 'test' ? 460 : 360;
      return lines.length > most + 1 && !/long because/i.test(lines.slice(0, 8).join('\n'));
    });
    expect(long).to.deep.equal([]);
  });

  it('begins every file of the product with a sentence on what it owns', () => {
    const silent = files.filter(
      file => !isTest(file) && !/^(#!.*\n)?\/\//.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(silent).to.deep.equal([]);
  });
});
