import { expect } from 'chai';
import { readWorkerConfig } from '../../worker/config.ts';
import { findHelm, type Helm, type KubeObject, one, podOf, type Values } from './chart/helm.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MIB = 2 ** 20;

const DEFAULTS = { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { memory: '4096Mi' } };

/** Pool values, and the resulting requests and limits. */
const RESOURCES: [string, Values, object][] = [
  ['two slots, the default', {}, DEFAULTS],
  [
    'one slot',
    { slotsPerPod: 1 },
    { requests: { cpu: '500m', memory: '768Mi' }, limits: { memory: '2560Mi' } },
  ],
  [
    'eight slots',
    { slotsPerPod: 8 },
    { requests: { cpu: '4000m', memory: '2560Mi' }, limits: { memory: '13312Mi' } },
  ],
  [
    'a larger render memory limit',
    { config: { PRESSROOM_RENDER_MEMORY: '1.5GiB' } },
    { requests: DEFAULTS.requests, limits: { memory: '5120Mi' } },
  ],
  [
    'a render memory limit in bytes',
    { config: { PRESSROOM_RENDER_MEMORY: '134217729' } },
    { requests: DEFAULTS.requests, limits: { memory: '2306Mi' } },
  ],
  ['null values', { resources: null, config: null }, DEFAULTS],
  [
    'a custom memory limit',
    { slotsPerPod: 8, resources: { limits: { memory: '2Gi' } } },
    { requests: { cpu: '4000m', memory: '1024Mi' }, limits: { memory: '2Gi' } },
  ],
  [
    'custom requests',
    {
      slotsPerPod: 8,
      resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '8' } },
    },
    { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '8', memory: '13312Mi' } },
  ],
];

describe("chart's workers", function () {
  this.timeout(120_000);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  const workerOf = async (pool: Values) => {
    const objects = await helm.template({ pool });
    const pod = childrenOfPool(objects).flatMap(
      (object: KubeObject) => podOf(object)?.spec ?? [],
    )[0];
    return { pod, container: pod.containers[0], pool: one(objects, 'BrowserPool') };
  };

  for (const [what, pool, resources] of RESOURCES)
    it(`have requests and limits for ${what}`, async () => {
      const { limits, requests } = (await workerOf(pool)).container.resources;
      const { 'ephemeral-storage': _disk, ...others } = requests;
      expect({ requests: others, limits }).to.deep.equal(resources);
    });

  it('have a memory limit for the largest render in all slots at once', async () => {
    for (const slotsPerPod of [1, 2, 8, 64]) {
      const { container } = await workerOf({ slotsPerPod });
      const env = Object.fromEntries(
        container.env.map(({ name, value }: KubeObject) => [name, value ?? 'a secret of sixteen']),
      );
      const { capacity, limits } = readWorkerConfig(env);
      expect(Number.parseInt(container.resources.limits.memory, 10) * MIB).to.be.greaterThan(
        capacity * (limits.maxBytes + 100 * MIB),
      );
    }
  });

  it('have a /tmp volume of the configured size, or by the number of slots', async () => {
    const sizeOf = async (pool: Values) => {
      const { pod, container } = await workerOf(pool);
      const size = pod.volumes[0].emptyDir.sizeLimit;
      expect(container.resources.requests['ephemeral-storage']).to.equal(size);
      return size;
    };
    expect(await sizeOf({ slotsPerPod: 8 })).to.equal('2560Mi');
    expect(await sizeOf({ slotsPerPod: 8, scratchSizeLimit: '5Gi' })).to.equal('5Gi');
  });

  it('restart Chrome between accounts if chromePerAccount is true', async () => {
    const perAccount = async (pool: Values) => {
      const { container } = await workerOf(pool);
      return container.env.find(({ name }: KubeObject) => name === 'PRESSROOM_CHROME_PER_ACCOUNT')
        ?.value;
    };
    expect(await perAccount({})).to.equal(undefined);
    expect(await perAccount({ chromePerAccount: true })).to.equal('on');
  });
});
