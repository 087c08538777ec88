import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

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
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

describe('the documentation', () => {
  it('has no link to a file that does not exist', () => {
    const broken = pages.flatMap(page =>
      [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => target!)
        .filter(target => !/^[a-z]+:/.test(target))
        .filter(target => !existsSync(join(ROOT, normalize(join(dirname(page), target)))))
        .map(target => `${page}: ${target}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('names no file of the source that does not exist', () => {
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

  it('lets a new user read the README in two minutes', () => {
    expect(read('README.md').split('\n').length).to.be.at.most(150);
  });
});
