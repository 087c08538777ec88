import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { buildImages, type Images, whyNoImages } from '../image-build.ts';
import { BUILD_LIMIT_MS } from '../kube/binaries.ts';
import { type RealCluster, startRealCluster, whyNoRealCluster } from './real-cluster.ts';
import { addPlainImage, nameForContainerd, PLAIN_IMAGE } from './test-images.ts';

const MINUTE_MS = 60_000;
const HELLO =
  "require('node:http').createServer((_, answer) => answer.end(process.env.POD)).listen(8080)";
const labels = { app: 'hello' };

const hello = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'hello', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'hello',
            image: PLAIN_IMAGE,
            imagePullPolicy: 'Never',
            command: ['node', '--eval', HELLO],
            env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};
const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }], ...spec },
});

describe('real node', function () {
  this.timeout(5 * MINUTE_MS);
  const at = temporaryFolder();
  let built: Images<never> | undefined;
  let real: RealCluster | undefined;
  const kubectl = (...args: string[]) => real!.cluster.kubectl(...args);
  const inPod = (script: string) =>
    kubectl('exec', 'deployment/hello', '--', 'node', '--input-type=module', '--eval', script);

  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 10 * MINUTE_MS);
    const why = (await whyNoRealCluster(console.log)) ?? (await whyNoImages(console.log));
    if (why !== undefined) skip(this, why);
    built = await buildImages([], at('store'), {});
    await addPlainImage(built, at());
    await built.exportTo(at('layout'), 'plain', PLAIN_IMAGE);
    await nameForContainerd(at('layout'));
    real = await startRealCluster(PLAIN_IMAGE, console.log);
    await real.images.importImages(at('layout'));
    await real.cluster.apply([
      hello,
      service('hello', { type: 'NodePort' }),
      service('each', { clusterIP: 'None' }),
    ]);
    await kubectl('rollout', 'status', 'deployment/hello', '--timeout=120s');
  });
  after(async function () {
    this.timeout(2 * MINUTE_MS);
    await real?.stop();
    await built?.remove();
  });

  it('makes pods reachable from the machine through a Service', async () => {
    const { spec } = await real!.cluster.get('/api/v1/namespaces/default/services/hello');
    await eventually(async () => {
      const answer = await fetch(`http://${real!.host.nodeAddress}:${spec.ports[0].nodePort}`);
      expect(await answer.text()).to.match(/^hello-/);
    }, MINUTE_MS);
  });

  it('makes pods reachable from pods by Service name, including from themselves', async () => {
    // The second pod may become ready later.
    await eventually(async () => {
      const seen = await inPod(`
        const names = new Set();
        for (let call = 0; names.size < 2 && call < 200; call++) {
          const answer = await fetch('http://hello', { headers: { connection: 'close' } });
          names.add(await answer.text());
        }
        console.log([...names].length);`);
      expect(seen).to.equal('2\n');
    }, MINUTE_MS);
  });

  it('resolves a headless Service to all pods, and does not resolve external names', async () => {
    const found = await inPod(`
      import { promises as dns } from 'node:dns';
      console.log((await dns.resolve4('each.default.svc.cluster.local')).length, await dns.resolve4("outside.invalid").catch(error => error.code));`);
    expect(found).to.match(/^2 ENOTFOUND\n$/);
  });

  it('leaves no links, cgroups or folders behind', async function () {
    this.timeout(2 * MINUTE_MS);
    const machine = () => ({
      links:
        execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }).match(/pressroom-\d+/g)?.length ??
        0,
      cgroups: readdirSync('/sys/fs/cgroup', { recursive: true, encoding: 'utf8' }).filter(name =>
        name.endsWith(`-node-${process.pid}`),
      ).length,
      folders: readdirSync(tmpdir()).filter(name =>
        name.startsWith(`pressroom-test-node-${process.pid}-`),
      ).length,
    });
    const running = machine();
    expect(Math.min(...Object.values(running)), JSON.stringify(running)).to.be.at.least(1);
    await real!.stop();
    real = undefined;
    const { links, ...rest } = machine();
    // Other processes may run nodes at the same time.
    expect(links).to.equal(running.links - 1);
    expect(rest).to.deep.equal({ cgroups: 0, folders: 0 });
  });
});
