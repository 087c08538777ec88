import { expect } from 'chai';
import { findHelm, type KubeObject, podOf } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const bytesOf = (size: string) =>
  Number.parseInt(size, 10) *
  2 ** (10 * ['', 'Ki', 'Mi', 'Gi'].indexOf(size.replace(/^[0-9]+/, '')));
const sum = (sizes: (string | undefined)[]) =>
  sizes.reduce((total, size) => total + (size ? bytesOf(size) : 0), 0);

describe("volumes of the chart's pods", function () {
  this.timeout(BUILD_LIMIT_MS);

  for (const [set, values] of Object.entries(MATRIX))
    it(`are covered by ephemeral storage requests with ${set}`, async function () {
      for (const object of await (await findHelm(this)).template(values)) {
        const { volumes = [], containers = [] } = podOf(object)?.spec ?? {};
        const most = sum(volumes.map(({ emptyDir }: KubeObject) => emptyDir?.sizeLimit));
        const requested = sum(
          // The containers of a user may have no requests.
          containers.map(({ resources }: KubeObject) => resources?.requests?.['ephemeral-storage']),
        );
        expect(requested, object.metadata.name).to.be.at.least(most);
      }
    });
});
