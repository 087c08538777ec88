import { expect } from 'chai';
import { findHelm, type Helm, type KubeObject, one, podOf } from './chart/helm.ts';
import { EXTENDED, MATRIX } from './chart/matrix.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('pods of the chart', function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;
  let rendered: KubeObject[];
  /** The pod specs of the API, the controller and the workers, by component. */
  let specs: Record<string, KubeObject>;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
    rendered = await helm.template(MATRIX['extended pods']);
    const workers = childrenOfPool(rendered).find(({ kind }) => kind === 'Deployment');
    specs = {
      api: one(rendered, 'Deployment', 'room-api').spec.template.spec,
      controller: one(rendered, 'Deployment', 'room-controller').spec.template.spec,
      worker: workers.spec.template.spec,
    };
  });

  it('have additional containers after that of the process, and init containers', () => {
    for (const [component, { containers, initContainers }] of Object.entries(specs)) {
      expect(containers.map(({ name }: KubeObject) => name)).to.deep.equal([component, 'sidecar']);
      expect(containers[1], component).to.deep.equal(EXTENDED.extraContainers[0]);
      expect(initContainers, component).to.deep.equal(EXTENDED.initContainers);
    }
  });

  it('have the DNS configuration, host aliases and lifecycle handlers of the values', () => {
    const { dnsConfig, hostAliases, lifecycle } = EXTENDED;
    for (const [component, spec] of Object.entries(specs)) {
      expect(spec, component).to.deep.include({ dnsConfig, hostAliases });
      expect(spec.containers[0].lifecycle, component).to.deep.equal(lifecycle);
    }
  });

  it('resolve names in the Jobs as in the controller, and in the test pod as in the API', () => {
    const { dnsConfig, hostAliases } = EXTENDED;
    const others = rendered.filter(({ kind }) => kind === 'Job' || kind === 'Pod');
    expect(others).to.have.length(3);
    for (const object of others)
      expect(podOf(object)!.spec, object.metadata.name).to.deep.include({ dnsConfig, hostAliases });
  });

  it('replace fields of the default probes by those of the values', () => {
    for (const [component, { containers }] of Object.entries(specs)) {
      const { startupProbe, livenessProbe, readinessProbe } = containers[0];
      expect(startupProbe, component).to.deep.equal({
        httpGet: { path: '/livez', port: 'operations' },
        periodSeconds: 2,
        failureThreshold: 300,
      });
      expect(livenessProbe, component).to.deep.equal({
        exec: { command: ['true'] },
        periodSeconds: 10,
        timeoutSeconds: 5,
        failureThreshold: 6,
      });
      expect(readinessProbe, component).to.deep.equal({
        httpGet: { path: '/mine', port: 8080 },
        periodSeconds: 1,
        timeoutSeconds: 2,
        failureThreshold: 3,
      });
    }
  });

  it('have labels and annotations of their own in Jobs, test, installer and MongoDB', () => {
    const marked = rendered.filter(
      object => podOf(object) && !['api', 'controller'].includes(componentOf(object)),
    );
    expect([...new Set(marked.map(componentOf))]).to.have.members([
      'setup',
      'test',
      'seccomp',
      'mongodb',
    ]);
    for (const object of marked) {
      const { labels, annotations } = podOf(object)!.metadata;
      expect(labels, object.metadata.name).to.include({ team: 'paper' });
      expect(annotations, object.metadata.name).to.include({ note: 'read me' });
    }
  });

  it('have no such field in the pool by default, so that an older CRD accepts it', async () => {
    const { template } = one(await helm.template(), 'BrowserPool').spec;
    const { extraContainers: _, ...fields } = EXTENDED;
    expect(template).not.to.have.any.keys('containers', ...Object.keys(fields));
  });

  it('come with additional objects, whose values are templates', async () => {
    const objects = await helm.template(MATRIX['additional objects']);
    const extra = one(objects, 'ConfigMap', 'room-extra');
    expect(extra.metadata.namespace).to.equal('press');
    expect(extra.data).to.deep.equal({ replicas: '2' });
    expect(one(objects, 'ConfigMap', 'text').data).to.deep.equal({ given: 'as text' });
  });
});

const componentOf = ({ metadata }: KubeObject): string =>
  metadata.labels['app.kubernetes.io/component'];
