import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  CHART,
  findHelm,
  type HelmMajor,
  type KubeObject,
  LEAST,
  podOf,
  withValues,
} from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('metadata of the chart', function () {
  this.timeout(2 * MINUTE_MS);

  for (const major of [3, 4] as const satisfies HelmMajor[])
    it(`passes helm lint of Helm ${major} without a remark`, async function () {
      this.timeout(BUILD_LIMIT_MS);
      const helm = await findHelm(this, major);
      const output = await withValues(LEAST, file =>
        helm(['lint', CHART, '--strict', '--values', file]),
      );
      expect(output).to.include('0 chart(s) failed');
      expect(output).not.to.match(/\[(INFO|WARNING|ERROR)\]/);
    });

  it('lists the images that the chart uses by default', async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    const objects = await helm.template({
      mongodb: { existingSecret: '', bundled: { enabled: true } },
      seccompInstaller: { enabled: true },
    });
    const used = objects.flatMap((object: KubeObject) => {
      if (object.kind === 'BrowserPool') return [object.spec.template.image];
      const { containers = [], initContainers = [] } = podOf(object)?.spec ?? {};
      return [...containers, ...initContainers].map(({ image }: KubeObject) => image);
    });
    const { annotations } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
    const listed = parse(annotations['artifacthub.io/images']).map(
      ({ image }: KubeObject) => image,
    );
    expect(listed).to.have.members([...new Set(used)]);
  });
});
