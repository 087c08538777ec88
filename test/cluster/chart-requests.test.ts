import { expect } from 'chai';
import { findHelm, type KubeObject, podOf } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
/** What a managed node of 2 cores and 8 GB leaves to pods, less the pods of Kubernetes. */
const NODE = { cpu: 1_930 - 350, memory: 6_900 - 200 };

/** A quantity in thousandths of a core. */
const millicores = (text: string) =>
  text.endsWith('m') ? Number.parseInt(text, 10) : Number(text) * 1_000;
/** A quantity in MiB. */
const mebibytes = (text: string) => Number.parseFloat(text) * (text.endsWith('Gi') ? 1_024 : 1);

describe("requests of the chart's pods", function () {
  this.timeout(2 * MINUTE_MS);

  it('fit a node of 2 cores and 8 GB with a bundled MongoDB, during an upgrade of the API, too', async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    const objects = await helm.template(MATRIX['a bundled MongoDB']);
    const running = [...objects, ...childrenOfPool(objects)].filter(({ kind }) =>
      ['Deployment', 'StatefulSet'].includes(kind),
    );
    const sum = { cpu: 0, memory: 0 };
    for (const object of running) {
      const surge = object.metadata.name === 'room-api' ? 1 : 0;
      for (const { resources } of podOf(object)!.spec.containers as KubeObject[]) {
        const pods = object.spec.replicas + surge;
        sum.cpu += pods * millicores(resources.requests.cpu);
        sum.memory += pods * mebibytes(resources.requests.memory);
      }
    }
    expect(running).to.have.length(4);
    expect(sum.cpu).to.be.greaterThan(1_000).and.at.most(NODE.cpu);
    expect(sum.memory).to.be.greaterThan(1_024).and.at.most(NODE.memory);
  });
});
