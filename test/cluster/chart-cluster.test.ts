import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { dryRunPod } from './chart/dry-run-pod.ts';
import { foreignKinds } from './chart/foreign-kinds.ts';
import {
  CHART,
  findHelm,
  type Helm,
  type KubeObject,
  NAMESPACE,
  objectsOf,
  one,
  podOf,
} from './chart/helm.ts';
import { kubeconform, writeSchemas } from './chart/kubeconform.ts';
import { MATRIX } from './chart/matrix.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS, kubeBinaries, whyNoBinaries } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';
import { publishedCrds, whyNoPublishedCrds } from './kube/published-crds.ts';

const MINUTE_MS = 60_000;
/** Kinds of other projects that the chart and the examples of docs/kubernetes.md use. */
const PUBLISHED = [
  'HTTPRoute',
  'Certificate',
  'ExternalSecret',
  'ScaledObject',
  'TriggerAuthentication',
] as const;
const INSTALLER_NAMESPACE = 'pressroom-seccomp';

const namespace = (name: string, security: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': security } },
});
const priority = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'important' },
  value: 1,
};
const runtime = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'gvisor' },
  handler: 'runsc',
};
const account = (name: string, where: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: where },
});

const yamlBlocksOf = (page: string): KubeObject[] =>
  [...readFileSync(page, 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) =>
    parse(text!),
  );

describe('chart on a real API server', function () {
  this.timeout(5 * MINUTE_MS);
  let helm: Helm;
  let cluster: Cluster;
  const folder = temporaryFolder();
  const rendered: [string, KubeObject[]][] = [];

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster() ?? whyNoPublishedCrds(PUBLISHED);
    if (why !== undefined) skip(this, why);
    helm = await findHelm(this);
    cluster = await startCluster();
    await cluster.apply([
      ...objectsOf(readFileSync(join(CHART, 'crds/browserpools.pressroom.dev.yaml'), 'utf8')),
      ...foreignKinds,
      ...(await publishedCrds(PUBLISHED)),
      namespace(NAMESPACE, 'restricted'),
      namespace('other', 'restricted'),
      namespace(INSTALLER_NAMESPACE, 'privileged'),
    ]);
    for (const [name, values] of Object.entries(MATRIX))
      rendered.push([name, await helm.template(values)]);
    const accounts = rendered
      .flatMap(([, objects]) => objects)
      .filter(({ kind }) => kind === 'ServiceAccount');
    const bare = accounts.map(({ metadata }) => account(metadata.name, metadata.namespace));
    const more = ['given', 'printer', 'default'].map(name => account(name, NAMESPACE));
    await cluster.apply([
      ...bare,
      ...more,
      account('default', INSTALLER_NAMESPACE),
      priority,
      runtime,
    ]);
  });
  after(() => cluster?.stop());

  const podsOf = (object: KubeObject) => dryRunPod(cluster, object);

  it('renders objects that the API server accepts without unknown fields', async () => {
    for (const [name, objects] of rendered) {
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const output = await cluster
        .kubectl(
          'apply',
          '--server-side',
          '--dry-run=server',
          '--validate=strict',
          '--force-conflicts',
          '-f',
          '-',
          { input },
        )
        .catch((error: Error) => error);
      expect(output, `${name}: ${output}`).to.be.a('string');
      expect((output as string).trim().split('\n'), name).to.have.length(objects.length);
    }
  });

  it('renders an HTTPRoute that the CRD of the Gateway API validates', async () => {
    const route = async (timeouts: object) => {
      const objects = await helm.template({
        httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], timeouts },
      });
      const body = objects.find(({ kind }) => kind === 'HTTPRoute');
      return cluster.request(
        'POST',
        `/apis/gateway.networking.k8s.io/v1/namespaces/${NAMESPACE}/httproutes?dryRun=All&fieldValidation=Strict`,
        body,
      );
    };
    const { status, body } = await route({ request: '300s' });
    expect(status, JSON.stringify(body)).to.equal(201);
    const refused = await route({ request: '1s', backendRequest: '2s' });
    expect(refused.status).to.equal(422);
    expect(refused.body.message).to.match(/backendRequest timeout cannot be longer/);
  });

  it('has an example of a pool in Chart.yaml that the API server accepts', async () => {
    const { annotations } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
    const [example] = parse(annotations['artifacthub.io/crdsExamples']);
    const { status, body } = await cluster.request(
      'POST',
      `/apis/pressroom.dev/v1alpha1/namespaces/${NAMESPACE}/browserpools?dryRun=All&fieldValidation=Strict`,
      example,
    );
    expect(status, JSON.stringify(body)).to.equal(201);
  });

  it('has examples in docs/kubernetes.md that the API server accepts with their CRDs', async () => {
    const examples = yamlBlocksOf('docs/kubernetes.md');
    const externalSecret = examples.find(({ kind }) => kind === 'ExternalSecret');
    // The rule of prometheus-adapter is no value of the chart.
    const values = examples.filter(({ kind, rules }) => kind === undefined && !rules);
    const objects = (await Promise.all(values.map(each => helm.template(each)))).flat();
    const ofKinds = objects.filter(({ kind }) =>
      ['Ingress', 'HTTPRoute', 'Certificate'].includes(kind),
    );
    expect(ofKinds.map(({ kind }) => kind)).to.have.members([
      'Ingress',
      'HTTPRoute',
      'Certificate',
    ]);
    for (const object of [externalSecret, ...ofKinds]) {
      const metadata = { ...object.metadata, namespace: NAMESPACE };
      const args = ['--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];
      const input = JSON.stringify({ ...object, metadata });
      expect(await cluster.kubectl('apply', ...args, { input })).to.match(/serverside-applied/);
    }
  });

  it('reads all secrets from the ExternalSecret of docs/kubernetes.md', async () => {
    const examples = yamlBlocksOf('docs/kubernetes.md');
    const { metadata, spec } = examples.find(({ kind }) => kind === 'ExternalSecret');
    const objects = await helm.template(examples.find(({ secrets }) => secrets !== undefined));
    const { env } = one(objects, 'Deployment', 'room-api').spec.template.spec.containers[0];
    const read = env
      .map(({ valueFrom }: KubeObject) => valueFrom?.secretKeyRef)
      .filter((ref: KubeObject) => ref && !ref.optional);
    const keys: string[] = spec.data.map(({ secretKey }: KubeObject) => secretKey);
    expect(read).to.have.deep.members(keys.map(key => ({ name: metadata.name, key })));
    expect(one(objects, 'BrowserPool').spec.poolSecret.name).to.equal(metadata.name);
    expect(objects.map(({ metadata: { name } }) => name)).not.to.include('room-make-secrets');
  });

  it('has a pool whose owned objects the API server accepts', async () => {
    for (const [name, objects] of rendered)
      for (const object of childrenOfPool(objects)) {
        const input = JSON.stringify(object);
        const output = await cluster
          .kubectl('apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-', {
            input,
          })
          .catch((error: Error) => error);
        expect(output, `${name}: ${output}`).to.be.a('string');
      }
  });

  it('has pods that meet the Pod Security Standard `restricted`, including workers', async () => {
    let seen = 0;
    for (const [name, objects] of rendered)
      for (const object of [...objects, ...childrenOfPool(objects)]) {
        if (
          !podOf(object) ||
          object.metadata.namespace !== NAMESPACE ||
          name === 'workers without a seccomp profile'
        )
          continue;
        const { status, message } = await podsOf(object);
        expect(status, `${name}, ${object.kind} ${object.metadata.name}: ${message}`).to.equal(201);
        seen++;
      }
    expect(seen).to.be.greaterThan(70);
  });

  it('has workers without a seccomp profile rejected by the Pod Security Standard `restricted`', async () => {
    const objects = rendered.find(([name]) => name === 'workers without a seccomp profile')![1];
    const { status, message } = await podsOf(
      childrenOfPool(objects).find(({ kind }) => kind === 'Deployment'),
    );
    expect(status).to.equal(403);
    expect(message).to.match(/seccompProfile/);
  });

  it('has a seccomp installer that is admitted only in its privileged namespace', async () => {
    const objects = rendered.find(([name]) => name === 'all optional objects')![1];
    const installer = objects.find(({ kind }) => kind === 'DaemonSet');
    expect((await podsOf(installer)).status).to.equal(201);
    const elsewhere = await podsOf({
      ...installer,
      metadata: { ...installer.metadata, namespace: NAMESPACE },
    });
    expect([elsewhere.status, elsewhere.message]).to.satisfy(
      ([status, message]: [number, string]) => status === 403 && /hostPath/.test(message),
    );
  });

  it('passes kubeconform -strict with the schemas of the API server', async function () {
    const why = whyNoBinaries(['kubeconform']);
    if (why !== undefined) skip(this, why);
    this.timeout(BUILD_LIMIT_MS);
    const { kubeconform: program } = await kubeBinaries(['kubeconform']);
    await writeSchemas(cluster, folder('schemas'));
    const wrong = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'x' },
      spec: { porst: [] },
    };
    expect(await kubeconform(program, folder('schemas'), [wrong], folder('wrong.yaml'))).to.match(
      /porst/,
    );
    for (const [name, objects] of rendered)
      expect(
        await kubeconform(program, folder('schemas'), objects, folder('objects.yaml')),
        name,
      ).to.equal('');
  });
});
