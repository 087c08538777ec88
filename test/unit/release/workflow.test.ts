import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { MODULES, RELEASE_MODULES } from '../../cluster/kube/versions.ts';

const { jobs } = parse(
  readFileSync(new URL('../../../.github/workflows/release.yml', import.meta.url), 'utf8'),
) as { jobs: Record<string, { steps: { run?: string }[] }> };
const commands = Object.values(jobs)
  .flatMap(({ steps }) => steps.map(({ run = '' }) => run))
  .join('\n');

describe('the workflow of a release', () => {
  it('runs the script that the tests run', () => {
    expect(commands).to.match(/^\s*npm run release -- /m);
  });

  it('installs helm, cosign and oras in the versions of the tests', () => {
    for (const [path, program] of [
      ['helm.sh/helm/v3', 'helm'],
      ['github.com/sigstore/cosign/v3', 'cosign'],
      ['oras.land/oras', 'oras'],
    ]) {
      const { version } = [...MODULES, ...RELEASE_MODULES].find(module => module.path === path)!;
      expect(commands).to.include(`go install ${path}/cmd/${program}@${version}`);
    }
  });
});
