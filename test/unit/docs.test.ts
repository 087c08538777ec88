import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { commandOf, readmeCommand, readmeCommands } from '../support/readme-commands.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const pages = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(page => page !== '' && existsSync(join(ROOT, page)));
/** Variables of a caller, in examples and for the command line. */
const ON_THE_CLIENT = ['PRESSROOM_KEY', 'PRESSROOM_SERVER'];

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

describe('the documentation', () => {
  it('links only to files that exist', () => {
    const broken = pages.flatMap(page =>
      [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => target!)
        .filter(target => !/^[a-z]+:/.test(target))
        .filter(target => !existsSync(join(ROOT, normalize(join(dirname(page), target)))))
        .map(target => `${page}: ${target}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('names only source files that exist', () => {
    const named = ['docs/architecture.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'].flatMap(
      page =>
        [...read(page).matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|md|yaml))`/g)].map(([, file]) => ({
          page,
          file: file!,
        })),
    );
    expect(named).to.have.length.greaterThan(20);
    const missing = named.filter(
      ({ file }) => !existsSync(join(ROOT, file)) && !existsSync(join(ROOT, 'test', file)),
    );
    expect(missing).to.deep.equal([]);
  });

  it('names only metrics, variables and collections that exist', () => {
    const metrics = read('docs/metrics.md');
    const variables = read('docs/configuration.md');
    const texts = pages
      .filter(page => /^(README|CONTRIBUTING|SECURITY|docs\/[\w-]+)\.md$/.test(page))
      .map(page => read(page))
      .join('\n');
    const named = (pattern: RegExp) => [...new Set(texts.match(pattern))];
    const adapted = [...read('docs/kubernetes.md').matchAll(/name: \{ as: (\w+) \}/g)].map(
      ([, name]) => `\`${name}\``,
    );
    expect(
      named(/`pressroom_[a-z_]+`/g).filter(
        name => !metrics.includes(name) && !adapted.includes(name),
      ),
    ).to.deep.equal([]);
    expect(
      named(/\bPRESSROOM_[A-Z_]+[A-Z]\b(?!_)/g).filter(
        name => !ON_THE_CLIENT.includes(name) && !variables.includes(name),
      ),
    ).to.deep.equal([]);
    const collections = globSync('api/{store,leases,accounts}/*.ts', { cwd: ROOT })
      .flatMap(file => [...read(file).matchAll(/collection(?:<\w+>)?\('([\w.]+)'\)/g)])
      .map(([, name]) => name!)
      .filter(name => !name.startsWith('system.'));
    expect(collections).to.include.members(['accounts', 'oauth_grants', 'documents.files']);
    const described = read('docs/architecture.md');
    expect(collections.filter(name => !described.includes(`\`${name}\``))).to.deep.equal([]);
  });

  it('has only commands in the README that tests run', () => {
    // `npm start` and curl: integration/standalone/standalone; Docker Compose:
    // integration/standalone/compose-commands; helm: cluster/chart-helm-majors, cluster/end-to-end.
    expect(readmeCommands.map(command => /^\w+ \w+|^\w+/.exec(command)![0])).to.deep.equal([
      'npm start',
      'for name',
      ...Array(3).fill('docker compose'),
      'curl',
      'helm install',
    ]);
  });

  it('has the same command for installing the chart on each page', () => {
    const start = 'helm install pressroom charts/pressroom';
    const command = readmeCommand(start);
    for (const page of ['docs/kubernetes.md', 'charts/pressroom/README.md'])
      expect(commandOf(page, start), page).to.equal(command);
  });

  it('has the defaults of the configuration in the guide on limits', () => {
    const rows = [
      ...read('docs/guides/limits-and-retries.md').matchAll(
        /^\| [^|]+ \| ([^|]+) \| `(\w+)` \|$/gm,
      ),
    ];
    expect(rows).to.have.length(7);
    const variables = read('docs/configuration.md');
    for (const [, value, name] of rows)
      expect(variables).to.include(`| \`${name}\` | \`${value!.replace(' ', '')}\` |`);
  });

  it('links each guide in the README', () => {
    const guides = pages.filter(page => page.startsWith('docs/guides/'));
    expect(guides).to.have.length.greaterThan(5);
    expect(guides.filter(guide => !read('README.md').includes(`](${guide})`))).to.deep.equal([]);
  });

  it('has a target for each link to a section of a page', () => {
    const anchor = (title: string) =>
      title
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replace(/\s+/g, '-');
    const links = pages.flatMap(page =>
      [...read(page).matchAll(/\]\(([\w./-]*\.md)?#([^)]+)\)/g)].map(([, file, id]) => ({
        page,
        file: file ? normalize(join(dirname(page), file)) : page,
        id: id!,
      })),
    );
    expect(new Set(links.map(({ page }) => page))).to.include('charts/pressroom/runbook.md');
    const broken = links.filter(
      ({ file, id }) =>
        ![...read(file).matchAll(/^#+ (.+)$/gm)].some(([, title]) => anchor(title!) === id),
    );
    expect(broken).to.deep.equal([]);
  });

  it('lets a new user read the README in two minutes', () => {
    expect(read('README.md').split('\n').length).to.be.at.most(150);
  });
});
