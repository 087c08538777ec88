import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  CHART,
  findHelm,
  type Helm,
  type KubeObject,
  LEAST,
  NAMESPACE,
  objectsOf,
  one,
  RELEASE,
  withValues,
} from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The results of these functions and fields differ between renders, or need a cluster. */
const VARYING =
  /\b(lookup|now|date|rand\w+|genPrivateKey|genCA\w*|genSelfSignedCert\w*|genSignedCert\w*|htpasswd|bcrypt|encryptAES|uuidv4|getHostByName)\b|\.Release\.(IsInstall|IsUpgrade|Revision)\b/;

/** Kinds that Argo CD 3 does not track by default (`resource.exclusions`). */
const NOT_TRACKED = [
  'Endpoints',
  'EndpointSlice',
  'Lease',
  'TokenReview',
  'SubjectAccessReview',
  'CertificateSigningRequest',
  'CertificateRequest',
];

/** The objects in the YAML examples of a page. */
const examplesOf = (page: string): KubeObject[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(
    ([, text]) => objectsOf(text!),
  );

describe('chart in Argo CD and Flux', function () {
  this.timeout(15 * MINUTE_MS);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  const textOf = (values: object, ...args: string[]) =>
    withValues({ ...LEAST, ...values }, file =>
      helm(['template', RELEASE, CHART, '-n', NAMESPACE, '--values', file, ...args]),
    );

  it('has the same text in each render, before an installation and before an upgrade', async () => {
    for (const [name, values] of Object.entries(MATRIX)) {
      const first = await textOf(values, '--include-crds');
      expect(await textOf(values, '--include-crds'), name).to.equal(first);
      expect(await textOf(values, '--include-crds', '--is-upgrade'), name).to.equal(first);
    }
  });

  it('uses no template function that reads the cluster, the time or random values', () => {
    const files = globSync('templates/**/*', { cwd: CHART, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name));
    expect(files).to.have.length.greaterThan(20);
    const found = files.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/{{.*?}}/gs)]
        .map(([action]) => action.replace(/{{-? *\/\*.*?\*\/ *-?}}|"[^"]*"/gs, ''))
        .filter(action => VARYING.test(action))
        .map(action => `${file}: ${action}`),
    );
    expect(found).to.deep.equal([]);
    expect('{{ randAlphaNum 32 }}').to.match(VARYING);
  });

  it('contains no object of a kind that Argo CD does not track', async () => {
    for (const [name, values] of Object.entries(MATRIX))
      for (const { kind } of await helm.template(values))
        expect(NOT_TRACKED, name).not.to.include(kind);
  });

  it('has a CRD that Argo CD neither prunes nor deletes', async () => {
    const crd = one(await helm.template({}, '--include-crds'), 'CustomResourceDefinition');
    expect(crd.metadata.annotations).to.include({
      'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
      'helm.sh/resource-policy': 'keep',
    });
  });

  it('accepts the values of the Application in the documentation', async () => {
    const { spec } = one(examplesOf('docs/argo-cd.md'), 'Application');
    const { releaseName, valuesObject } = spec.source.helm;
    expect(spec.source.path).to.equal('charts/pressroom');
    const objects = await helm.template(valuesObject, '--include-crds');
    // Argo CD applies the CRD in crds/ itself.
    expect(
      objects.filter(({ kind }) => kind === 'Job').map(job => job.metadata.name),
    ).to.deep.equal([`${RELEASE}-make-secrets`]);
    expect(releaseName).to.equal('pressroom');
  });

  it('accepts the values of the HelmRelease in the documentation', async () => {
    const objects = examplesOf('docs/flux.md');
    const { spec } = one(objects, 'HelmRelease');
    const { chart, sourceRef } = spec.chart.spec;
    expect(chart).to.equal('charts/pressroom');
    expect(one(objects, sourceRef.kind, sourceRef.name).spec.url).to.match(/^https:/);
    const rendered = await helm.template(spec.values);
    one(rendered, 'Job', `${RELEASE}-apply-crd`);
  });
});
