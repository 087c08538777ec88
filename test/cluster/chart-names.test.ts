import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import {
  CHART,
  findHelm,
  type Helm,
  type KubeObject,
  LEAST,
  objectsOf,
  one,
  podOf,
  withValues,
} from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('names and labels of the chart', function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;
  const render = (set: string) => helm.template(MATRIX[set]);

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  it('include the common labels on every pod, and the controller pod labels on the Jobs', async () => {
    for (const object of await render('all optional objects'))
      if (podOf(object))
        expect(podOf(object)!.metadata.labels, object.metadata.name).to.include({ team: 'paper' });
    const placed = (await render('scheduling constraints')).filter(
      ({ kind }) => kind === 'Job' || kind === 'Pod',
    );
    expect(placed).to.have.length(3);
    for (const object of placed) {
      expect(podOf(object)!.metadata.labels, object.metadata.name).to.include({ team: 'paper' });
      expect(podOf(object)!.metadata.annotations, object.metadata.name).to.include({
        note: 'read me',
      });
    }
  });

  it('cannot be overridden by values', async () => {
    for (const { kind, metadata } of await render('labels that conflict with those of the chart'))
      expect(metadata.labels, `${kind} ${metadata.name}`).to.include({
        'app.kubernetes.io/name': 'pressroom',
        'app.kubernetes.io/version': '0.1.0',
        'helm.sh/chart': 'pressroom-0.1.0',
      });
  });

  it('are quoted where YAML would parse booleans or numbers', async () => {
    const values = {
      secrets: {
        poolSecret: { existingSecret: '1234', key: '1' },
        pepper: { existingSecret: 'on', key: 'off' },
      },
      mongodb: { existingSecret: '1e3', key: 'null' },
      api: { serviceAccount: { create: false, name: 'yes' }, priorityClassName: 'true' },
      pool: { name: 'y' },
      caBundle: { configMap: '0x1f' },
    };
    const text = await withValues({ ...LEAST, ...values }, file =>
      helm([
        'template',
        'no',
        CHART,
        '--namespace',
        'no',
        '--values',
        file,
        '--set',
        'alerts.enabled=true,podMonitor.enabled=true',
      ]),
    );
    const names = [
      'name',
      'namespace',
      'key',
      'serviceAccountName',
      'priorityClassName',
      'app.kubernetes.io/instance',
      'pressroom.dev/pool',
    ];
    const wrong: string[] = [];
    const visit = (node: KubeObject, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [field, value] of Object.entries(node)) {
        const isName = names.includes(field) || (field === 'value' && path.includes('/env/'));
        if (isName && typeof value !== 'string') wrong.push(`${path}/${field}: ${value}`);
        visit(value, `${path}/${field}`);
      }
    };
    // Helm parses YAML 1.1.
    for (const document of parseAllDocuments(text, { version: '1.1' })) visit(document.toJS(), '');
    expect(wrong).to.deep.equal([]);
  });

  it('are short enough for the names that Kubernetes derives from them', async () => {
    const release = `a${'-long-name'.repeat(5)}`;
    const values = { mongodb: { bundled: { enabled: true } }, seccompInstaller: { enabled: true } };
    const objects = await withValues(values, async file =>
      objectsOf(await helm(['template', release, CHART, '--values', file])),
    );
    for (const { kind, metadata } of objects)
      expect(metadata.name.length, `${kind} ${metadata.name}`).to.be.at.most(63);
    // Its pods have a label with this name, a dash and a hash of up to ten characters.
    expect(one(objects, 'StatefulSet').metadata.name.length).to.be.at.most(52);
  });
});
