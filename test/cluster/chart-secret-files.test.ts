import { expect } from 'chai';
import { findHelm, type Helm, type KubeObject, podOf, type Values } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const SETS = Object.keys(MATRIX).filter(name => name.startsWith('secrets as files'));

describe('secrets of the chart as files', function () {
  this.timeout(120_000);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  /** The pods of the chart and of the controller, with their first container. */
  async function podsOf(values: Values) {
    const objects = await helm.template(values);
    const workers = values['autoscaling'] ? [] : childrenOfPool(objects);
    return [...objects, ...workers].flatMap(object => {
      const spec = podOf(object)?.spec;
      return spec?.containers[0].env ? [{ spec, container: spec.containers[0] as KubeObject }] : [];
    });
  }

  /** `Secret/key` by the path of the file in a container. */
  function secretFiles(spec: KubeObject, container: KubeObject): Record<string, string> {
    const files: Record<string, string> = {};
    for (const { name, mountPath } of container.volumeMounts ?? []) {
      const volume = spec.volumes.find((each: KubeObject) => each.name === name);
      const secrets: KubeObject[] = [
        ...(volume.projected?.sources.map(({ secret }: KubeObject) => secret) ?? []),
        ...(volume.secret ? [{ ...volume.secret, name: volume.secret.secretName }] : []),
      ];
      for (const secret of secrets)
        for (const { key, path } of secret.items) {
          expect(secret.optional, `${secret.name}/${key}`).to.equal(undefined);
          files[`${mountPath}/${path}`] = `${secret.name}/${key}`;
        }
    }
    return files;
  }

  const filesOf = async (values: Values, name: string) => {
    const pod = (await podsOf(values)).find(({ container }) => container.name === name)!;
    const files = secretFiles(pod.spec, pod.container);
    return Object.fromEntries(
      pod.container.env.flatMap(({ name: variable, value }: KubeObject) =>
        variable.endsWith('_FILE') ? [[variable, files[value]]] : [],
      ),
    );
  };

  for (const set of SETS)
    it(`leave no secret in an environment variable, with the values: ${set}`, async () => {
      const pods = await podsOf(MATRIX[set]!);
      expect(pods.map(({ container }) => container.name)).to.include.members(['api', 'worker']);
      for (const { spec, container } of pods) {
        const inVariable = container.env.filter((each: KubeObject) => each.valueFrom?.secretKeyRef);
        expect(inVariable, container.name).to.deep.equal([]);
        const named = container.env
          .filter((each: KubeObject) => each.name.endsWith('_FILE'))
          .map(({ value }: KubeObject) => value);
        expect(named, container.name).to.have.members(Object.keys(secretFiles(spec, container)));
      }
    });

  it('name the Secret and the key of each variable of the API', async () => {
    expect(await filesOf(MATRIX['secrets as files']!, 'api')).to.deep.equal({
      MONGODB_URI_FILE: 'database/mongodb-uri',
      PRESSROOM_PEPPER_FILE: 'room-secrets/pepper',
      PRESSROOM_PEPPER_PREVIOUS_FILE: 'old/pepper-previous',
      PRESSROOM_POOL_SECRET_FILE: 'room-secrets/pool-secret',
      PRESSROOM_SECRET_FILE: 'room-secrets/dashboard-secret',
      PRESSROOM_ADMIN_PASSWORD_FILE: 'mine/admin-password',
    });
  });

  it('name the Secret and the key of each variable of workers, controller and `helm test`', async () => {
    const values = MATRIX['secrets as files']!;
    expect(await filesOf(values, 'worker')).to.deep.equal({
      PRESSROOM_POOL_SECRET_FILE: 'room-secrets/pool-secret',
      PRESSROOM_EGRESS_PROXY_FILE: 'proxy/proxy-url',
    });
    expect(await filesOf(values, 'controller')).to.deep.equal({
      PRESSROOM_PROMETHEUS_TOKEN_FILE: 'prometheus/token',
    });
    expect(await filesOf(values, 'test')).to.include.keys('MONGODB_URI_FILE');
    expect(await filesOf(MATRIX[SETS[1]!]!, 'test')).to.deep.equal({
      PRESSROOM_TEST_KEY_FILE: 'key/key',
    });
  });

  it('contain the previous pepper only if a value names its Secret', async () => {
    const files = await filesOf({ secrets: { mountAsFiles: true } }, 'api');
    expect(files).to.include.keys('PRESSROOM_PEPPER_FILE');
    expect(files).to.not.have.any.keys('PRESSROOM_PEPPER_PREVIOUS_FILE');
  });

  it('are refused with the bundled MongoDB', async () => {
    const values = {
      secrets: { mountAsFiles: true },
      mongodb: { bundled: { enabled: true }, existingSecret: null },
    };
    const error = await helm.template(values).then(
      () => 'no error',
      ({ message }: Error) => message,
    );
    expect(error).to.include(
      'secrets.mountAsFiles: the bundled MongoDB has its password in a variable.',
    );
  });

  it('are off by default', async () => {
    for (const { container } of await podsOf({}))
      expect(
        container.env.filter(({ name }: KubeObject) => name.endsWith('_FILE')),
        container.name,
      ).to.deep.equal([]);
  });
});
