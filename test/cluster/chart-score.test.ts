// @proves linter-findings
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { skip } from '../support/skip.ts';
import { findHelm, type Helm, type KubeObject } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS, kubeBinaries, whyNoBinaries } from './kube/binaries.ts';

/** The grade of a warning; critical findings have 1. */
const WARNING = 5;
/** Sets of values that remove what the linter asks for. */
const WITHOUT = ['no NetworkPolicies and no PodDisruptionBudgets', 'OpenShift'];

interface Score {
  type_meta: { kind: string };
  object_meta: { name: string };
  checks: { check: { id: string }; skipped: boolean; grade: number }[];
}

/** The checks in the table of the docs, each with the components, or `all`. */
function reasons(): Map<string, string[]> {
  const docs = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');
  const [, table] = docs.split('\n## Findings of linters\n');
  const rows = [...table!.split('\n## ')[0]!.matchAll(/^\| (`.*?) \| (.*?) \| (.+) \|$/gm)];
  return new Map(
    rows.flatMap(([, checks, where]) =>
      [...checks!.matchAll(/`([^`]+)`/g)].map(([, check]) => [
        check!,
        where === 'all' ? ['all'] : [...where!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
      ]),
    ),
  );
}

describe('chart under kube-score', function () {
  this.timeout(120_000);
  let helm: Helm;
  let program: string;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoBinaries(['kube-score']);
    if (why !== undefined) skip(this, why);
    helm = await findHelm(this);
    ({ 'kube-score': program } = await kubeBinaries(['kube-score']));
  });

  /** The findings of objects, as `check component`. */
  async function findings(objects: KubeObject[]): Promise<string[]> {
    const child = spawn(program, ['score', '--output-format', 'json', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(objects.map(object => JSON.stringify(object)).join('\n---\n'));
    const scores = JSON.parse(await text(child.stdout)) as Score[];
    const componentOf = ({ type_meta, object_meta }: Score) =>
      objects.find(
        ({ kind, metadata }) => kind === type_meta.kind && metadata.name === object_meta.name,
      ).metadata.labels['app.kubernetes.io/component'];
    return scores.flatMap(score =>
      score.checks
        .filter(({ skipped, grade }) => !skipped && grade <= WARNING)
        .map(({ check }) => `${check.id} ${componentOf(score)}`),
    );
  }

  it('has no finding without a reason in the docs, and no reason without a finding', async () => {
    const written = reasons();
    const found = new Set<string>();
    for (const [name, values] of Object.entries(MATRIX)) {
      if (WITHOUT.includes(name)) continue;
      for (const finding of await findings(await helm.template(values))) {
        const [check, component] = finding.split(' ');
        const where = written.get(check!) ?? [];
        expect(
          where.includes('all') || where.includes(component!),
          `${finding} with ${name}`,
        ).to.equal(true);
        found.add(check!);
      }
    }
    expect([...found]).to.have.members([...written.keys()]);
  });

  it('finds a container that runs as root', async () => {
    const objects = await helm.template();
    const api = objects.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'room-api',
    );
    api.spec.template.spec.securityContext.runAsUser = 0;
    expect(await findings(objects)).to.include('container-security-context-user-group-id api');
  });
});
