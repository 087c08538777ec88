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

/** What stands in Secrets, by the variable that reads it. */
const SECRET: Record<string, string> = {
  MONGODB_URI: 'mongodb://user:password@db.example/pressroom?replicaSet=a',
  PRESSROOM_EGRESS_PROXY: 'http://proxy.example:3128',
};
/** Variables that are nobody's configuration. */
const FOREIGN = ['NODE_EXTRA_CA_CERTS', 'MONGODB_PASSWORD', 'EXTRA'];

/** As the kubelet makes it: the last of a name counts. */
const environmentOf = (container: KubeObject): Record<string, string> =>
  Object.fromEntries(
    container.env.map(({ name, value, valueFrom }: KubeObject) => [
      name,
      valueFrom?.secretKeyRef
        ? (SECRET[name] ?? 'a secret of sixteen letters and more')
        : valueFrom
          ? 'pod-1'
          : (value ?? ''),
    ]),
  );

const known = (...schemas: z.ZodObject[]) =>
  [...schemas, processVariables].flatMap(({ shape }) => Object.keys(shape));

describe("the environment of the chart's processes", function () {
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

  /** Runs over every set of values; throws what the process would say. */
  function everywhere(
    name: string,
    variables: string[],
    look: (objects: KubeObject[]) => KubeObject[],
    read: (env: Record<string, string>, set: string) => void,
  ) {
    let seen = 0;
    for (const [set, objects] of rendered)
      for (const container of look(objects)) {
        seen++;
        const names = container.env.map((each: KubeObject) => each.name);
        expect(
          new Set(names).size,
          `${set}: a variable of the ${name} stands there twice: ${names}`,
        ).to.equal(names.length);
        expect(
          names.filter((each: string) => !variables.includes(each) && !FOREIGN.includes(each)),
          `${set}: the ${name} knows none of these`,
        ).to.deep.equal([]);
        const env = environmentOf(container);
        readConfig(processVariables, env);
        read(env, set);
      }
    expect(seen, name).to.be.greaterThan(5);
  }

  it('is one that the API starts with, whatever the values', () => {
    everywhere(
      'API',
      known(apiVariables),
      objects => containers(objects, 'api'),
      (env, set) => {
        const config = complete(readApiConfig(env));
        expect(config.workers, set).to.deep.equal([`dns://${config.pool}-workers:9222`]);
      },
    );
  });

  it('is one that a worker starts with, as the controller hands it on', () => {
    writeFileSync(folder('ca.crt'), rootCertificates[0]!);
    everywhere(
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

  it('is one that the controller starts with', () => {
    everywhere(
      'controller',
      known(controllerVariables),
      objects => containers(objects, 'controller'),
      (env, set) => {
        const config = readControllerConfig(env);
        expect(config.namespaces, set).to.deep.equal(
          set === 'a controller for the whole cluster'
            ? []
            : set === 'a controller for more namespaces'
              ? ['press', 'other']
              : ['press'],
        );
        expect(config.lease, set).to.include({ namespace: 'press', holder: 'pod-1' });
      },
    );
  });

  it('names the authorities of the operator where their file lies, for pages too', () => {
    for (const [set, key] of [
      ["a company's proxy and authority", 'ca.crt'],
      ['an authority in a Secret', 'root.pem'],
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

  it('agrees between API and workers on the pool, its secret and what pages may reach', () => {
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
        const [ours, theirs] = [api, worker].map(({ env }) =>
          env.find((each: KubeObject) => each.name === name),
        );
        expect(ours, `${set}: ${name}`).to.deep.equal(theirs);
      }
    }
  });

  it('writes large numbers and switches as the processes read them', () => {
    const objects = rendered.find(([name]) => name === 'variables of all processes')![1];
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

  it('has what is secret of people and payments from Secrets, where the operator names them', () => {
    const [api] = containers(
      rendered.find(
        ([name]) => name === 'a dashboard with people of the company, who pay by Stripe',
      )![1],
      'api',
    );
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

  it('has what the operator says of the tool for chat programs, and closes to it what is closed to pages', () => {
    const [api] = containers(
      rendered.find(([name]) => name === 'a tool for chat programs, in a closed network')![1],
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

  it('still accepts the pepper before, where there is one', () => {
    const variable = (set: string) =>
      one(
        rendered.find(([name]) => name === set)![1],
        'Deployment',
        'room-api',
      ).spec.template.spec.containers[0].env.find(
        ({ name }: KubeObject) => name === 'PRESSROOM_PEPPER_PREVIOUS',
      ).valueFrom.secretKeyRef;
    expect(variable('the defaults')).to.deep.equal({
      name: 'room-secrets',
      key: 'pepper-previous',
      optional: true,
    });
    expect(variable('Secrets of the operator')).to.deep.equal({
      name: 'old',
      key: 'p',
      optional: true,
    });
  });

  it('leaves out of `config` only variables that there are', () => {
    const gone = [
      ...API_ELSEWHERE.filter(name => !known(apiVariables).includes(name)),
      ...WORKER_ELSEWHERE.filter(name => !known(workerVariables).includes(name)),
      ...CONTROLLER_ELSEWHERE.filter(name => !known(controllerVariables).includes(name)),
    ];
    expect(gone).to.deep.equal([]);
  });
});
