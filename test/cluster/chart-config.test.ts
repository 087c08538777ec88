import { writeFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import type { z } from 'zod';
import { complete } from '../../api/api.ts';
import { apiVariables, readApiConfig } from '../../api/config.ts';
import { processVariables, readConfig } from '../../common/config.ts';
import { controllerVariables, readControllerConfig } from '../../controller/config.ts';
import { API_ELSEWHERE } from '../../tools/chart/api-values.ts';
import { CONTROLLER_ELSEWHERE } from '../../tools/chart/controller-values.ts';
import { WORKER_ELSEWHERE } from '../../tools/chart/pool-values.ts';
import { readWorkerConfig, workerVariables } from '../../worker/config.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, type Helm, type KubeObject, one, podOf } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

/** Values of Secrets, by variable. */
const SECRET: Record<string, string> = {
  MONGODB_URI: 'mongodb://user:password@db.example/pressroom?replicaSet=a',
  PRESSROOM_EGRESS_PROXY: 'http://proxy.example:3128',
};
/** Variables that are not part of a configuration schema. */
const FOREIGN = ['NODE_EXTRA_CA_CERTS', 'MONGODB_PASSWORD', 'EXTRA'];

/** A variable with the path of a file of a Secret is shown as the variable. */
const nameOf = ({ name, value }: KubeObject): string =>
  value?.startsWith('/etc/pressroom/') ? name.replace(/_FILE$/, '') : name;

/** The environment as built by the kubelet: the last variable of a name wins. */
const environmentOf = (container: KubeObject): Record<string, string> =>
  Object.fromEntries(
    container.env.map((variable: KubeObject) => {
      const [name, { value, valueFrom }] = [nameOf(variable), variable];
      if (valueFrom?.secretKeyRef || name !== variable.name)
        return [name, SECRET[name] ?? 'a secret of sixteen letters and more'];
      return [name, valueFrom ? 'pod-1' : (value ?? '')];
    }),
  );

const known = (...schemas: z.ZodObject[]) =>
  [...schemas, processVariables].flatMap(({ shape }) => Object.keys(shape));

describe("environment of the chart's processes", function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;
  const rendered: [string, KubeObject[]][] = [];
  const folder = temporaryFolder();

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
    for (const [name, values] of Object.entries(MATRIX))
      rendered.push([name, await helm.template(values)]);
  });

  const containers = (objects: KubeObject[], name: string): KubeObject[] =>
    objects
      .flatMap(object => podOf(object)?.spec.containers ?? [])
      .filter(container => container.name === name);

  /** Reads the configuration of a process from every set of values. */
  function forEachSet(
    name: string,
    variables: string[],
    select: (objects: KubeObject[]) => KubeObject[],
    read: (env: Record<string, string>, set: string) => void,
  ) {
    let seen = 0;
    for (const [set, objects] of rendered)
      for (const container of select(objects)) {
        seen++;
        const names = container.env.map(nameOf);
        expect(new Set(names).size, `${set}: duplicate variable of the ${name}: ${names}`).to.equal(
          names.length,
        );
        expect(
          names.filter((each: string) => !variables.includes(each) && !FOREIGN.includes(each)),
          `${set}: unknown variables of the ${name}`,
        ).to.deep.equal([]);
        const env = environmentOf(container);
        readConfig(processVariables, env);
        read(env, set);
      }
    expect(seen, name).to.be.greaterThan(5);
  }

  it('is valid for the API with all values', () => {
    forEachSet(
      'API',
      known(apiVariables),
      objects => containers(objects, 'api'),
      (env, set) => {
        const config = complete(readApiConfig(env));
        expect(config.workers, set).to.deep.equal([`dns://${config.pool}-workers:9222`]);
      },
    );
  });

  it('is valid for a worker with all values', () => {
    writeFileSync(folder('ca.crt'), rootCertificates[0]!);
    forEachSet(
      'worker',
      known(workerVariables),
      objects => containers(childrenOfPool(objects), 'worker'),
      (env, set) => {
        const { PRESSROOM_EGRESS_CA: mounted, ...rest } = env;
        const config = readWorkerConfig(
          mounted ? { ...rest, PRESSROOM_EGRESS_CA: folder('ca.crt') } : env,
        );
        expect(config.secret, set).to.be.a('string');
        expect(config.capacity, set).to.equal(2);
      },
    );
  });

  it('is valid for the controller with all values', () => {
    forEachSet(
      'controller',
      known(controllerVariables),
      objects => containers(objects, 'controller'),
      (env, set) => {
        const config = readControllerConfig(env);
        expect(config.namespaces, set).to.deep.equal(
          set === 'a cluster-wide controller'
            ? []
            : set === 'a controller for several namespaces'
              ? ['press', 'other']
              : ['press'],
        );
        expect(config.lease, set).to.include({ namespace: 'press', holder: 'pod-1' });
      },
    );
  });

  it('contains the path of the CA bundle for the processes and for pages', () => {
    for (const [set, key] of [
      ['an HTTP proxy and a private CA', 'ca.crt'],
      ['a private CA in a Secret', 'root.pem'],
    ]) {
      const objects = rendered.find(([name]) => name === set)![1];
      const file = `/etc/pressroom/ca/${key}`;
      expect(environmentOf(containers(objects, 'api')[0]).NODE_EXTRA_CA_CERTS).to.equal(file);
      const [worker] = childrenOfPool(objects).flatMap(object => podOf(object)?.spec ?? []);
      expect(environmentOf(worker.containers[0]).PRESSROOM_EGRESS_CA).to.equal(file);
      expect(worker.containers[0].volumeMounts).to.deep.include({
        name: 'ca',
        mountPath: '/etc/pressroom/ca',
        readOnly: true,
      });
      expect(worker.volumes.map(({ name }: KubeObject) => name)).to.include('ca');
    }
  });

  it('has the same pool, pool secret and egress rules for the API and the workers', () => {
    for (const [set, objects] of rendered) {
      const [worker] = containers(childrenOfPool(objects), 'worker');
      if (!worker) continue;
      const [api] = containers(objects, 'api');
      for (const name of [
        'PRESSROOM_POOL',
        'PRESSROOM_POOL_SECRET',
        'PRESSROOM_EGRESS_ALLOW',
        'PRESSROOM_EGRESS_DENY',
        'PRESSROOM_EGRESS_PORTS',
      ]) {
        const [ofApi, ofWorker] = [api, worker].map(({ env }) =>
          env.find((each: KubeObject) => each.name === name),
        );
        expect(ofApi, `${set}: ${name}`).to.deep.equal(ofWorker);
      }
    }
  });

  it('formats large numbers and booleans as the processes expect', () => {
    const objects = rendered.find(([name]) => name === 'configuration of all processes')![1];
    const api = environmentOf(containers(objects, 'api')[0]);
    expect(api).to.include({
      PRESSROOM_TRIAL: 'off',
      PRESSROOM_TAGGED_PDF: 'on',
      PRESSROOM_QUEUE_MAX_RENDERS: '1000000',
      PRESSROOM_LOG_LEVEL: 'debug',
    });
    expect(environmentOf(containers(objects, 'controller')[0])).to.include({
      PRESSROOM_LOG_LEVEL: 'trace',
      PRESSROOM_PROMETHEUS_INTERVAL: '10s',
    });
  });

  it('turns trial renders off unless a value turns them on', async () => {
    const trialOf = async (api: object) =>
      readApiConfig(environmentOf(containers(await helm.template({ api }), 'api')[0])).trial;
    const limits = { perMinute: 5, parallel: 2 };
    expect(await trialOf({})).to.equal(undefined);
    expect(await trialOf({ trial: { enabled: true } })).to.deep.equal(limits);
    expect(await trialOf({ config: { PRESSROOM_TRIAL: true } })).to.deep.equal(limits);
    expect(
      await trialOf({ trial: { enabled: true }, config: { PRESSROOM_TRIAL: 'off' } }),
    ).to.equal(undefined);
  });

  it('reads the secrets of SSO and Stripe from existing Secrets', () => {
    const [api] = containers(rendered.find(([name]) => name === 'SSO and Stripe')![1], 'api');
    const from = (variable: string) => {
      const { name, key } = api.env.find((each: KubeObject) => each.name === variable).valueFrom
        .secretKeyRef;
      return `${name}/${key}`;
    };
    expect(from('PRESSROOM_SECRET')).to.equal('room-secrets/dashboard-secret');
    expect(from('PRESSROOM_ADMIN_PASSWORD')).to.equal('people/admin');
    expect(from('PRESSROOM_OIDC_CLIENT_SECRET')).to.equal('people/oidc');
    expect(from('PRESSROOM_STRIPE_SECRET_KEY')).to.equal('stripe/key');
    expect(from('PRESSROOM_STRIPE_WEBHOOK_SECRET')).to.equal('stripe/webhook');
    const config = readApiConfig(environmentOf(api));
    expect(config.dashboard).to.include({
      on: true,
      secret: 'a secret of sixteen letters and more',
    });
    expect(config.billing.mode).to.equal('stripe');
    const [without] = containers(rendered.find(([name]) => name === 'no dashboard')![1], 'api');
    expect(readApiConfig(environmentOf(without)).dashboard.on).to.equal(false);
  });

  it('contains the MCP settings and the denied networks', () => {
    const [api] = containers(
      rendered.find(([name]) => name === 'an MCP server without client metadata documents')![1],
      'api',
    );
    const { mcp, publicUrl, egress } = readApiConfig(environmentOf(api));
    expect(mcp).to.deep.equal({
      on: true,
      clients: { registration: true, document: false },
      links: { ttlMs: 10 * MINUTE_MS, accountMaxBytes: 64 * 2 ** 20 },
    });
    expect(publicUrl).to.equal('https://pdf.corp.example');
    expect(egress.deny.map(({ cidr }) => cidr)).to.deep.equal(['198.51.101.0/24']);
  });

  it('reads the previous pepper if it exists', () => {
    const variable = (set: string) =>
      one(
        rendered.find(([name]) => name === set)![1],
        'Deployment',
        'room-api',
      ).spec.template.spec.containers[0].env.find(
        ({ name }: KubeObject) => name === 'PRESSROOM_PEPPER_PREVIOUS',
      ).valueFrom.secretKeyRef;
    expect(variable('the default values')).to.deep.equal({
      name: 'room-secrets',
      key: 'pepper-previous',
      optional: true,
    });
    expect(variable('existing Secrets')).to.deep.equal({
      name: 'old',
      key: 'p',
      optional: true,
    });
  });

  it('excludes only existing variables from `config`', () => {
    const gone = [
      ...API_ELSEWHERE.filter(name => !known(apiVariables).includes(name)),
      ...WORKER_ELSEWHERE.filter(name => !known(workerVariables).includes(name)),
      ...CONTROLLER_ELSEWHERE.filter(name => !known(controllerVariables).includes(name)),
    ];
    expect(gone).to.deep.equal([]);
  });
});
