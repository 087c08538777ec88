// @proves crd

import { expect } from 'chai';
import { GROUP, PLURAL, specSchema, VERSION } from '../../crds/browser-pool.ts';
import { browserPoolCrd } from '../../crds/crd.ts';
import { eventually } from '../support/eventually.ts';
import { skip } from '../support/skip.ts';
import { AGAINST_RULES, MISSHAPEN, OUT_OF_BOUNDS, SHORTEST, specWith } from './bad-pools.ts';
import { type Json, PATCH } from './kube/api-request.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';

const MINUTE_MS = 60_000;
const POOLS = `/apis/${GROUP}/${VERSION}/namespaces/default/${PLURAL}`;
const API_VERSION = `${GROUP}/${VERSION}`;

const pool = (name: string, spec: unknown = SHORTEST) => ({
  apiVersion: API_VERSION,
  kind: 'BrowserPool',
  metadata: { name, namespace: 'default' },
  spec,
});
const shown = (value: unknown) => {
  if (Array.isArray(value) && value.length > 2) return `a list of ${value.length}`;
  if (typeof value === 'string' && value.length > 40) return `a text of ${value.length} characters`;
  return JSON.stringify(value) ?? 'nothing';
};

describe('BrowserPool CRD', function () {
  this.timeout(2 * MINUTE_MS);
  let cluster: Cluster;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster();
    if (why !== undefined) skip(this, why);
    cluster = await startCluster();
    await cluster.apply([browserPoolCrd]);
  });
  after(() => cluster?.stop());

  const readCrd = () =>
    cluster.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${PLURAL}.${GROUP}`);
  /** Validates a pool with a dry run. */
  const dryRun = (spec: unknown, name = 'tried') =>
    cluster.request('POST', `${POOLS}?dryRun=All&fieldValidation=Strict`, pool(name, spec));
  /** Creates a pool and returns it with the defaults of the API server. */
  async function create(name: string, spec: unknown = SHORTEST): Promise<Json> {
    const { status, body } = await cluster.request(
      'POST',
      `${POOLS}?fieldValidation=Strict`,
      pool(name, spec),
    );
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  }
  const read = (name: string): Promise<Json> => cluster.get(`${POOLS}/${name}`);

  it('is established', async () => {
    const { status } = await readCrd();
    const conditions = Object.fromEntries(
      status.conditions.map((each: Json) => [each.type, each.status]),
    );
    expect(conditions).to.deep.equal({ NamesAccepted: 'True', Established: 'True' });
  });

  it('does not change when it is applied again', async () => {
    const before = await readCrd();
    await cluster.apply([browserPoolCrd]);
    expect((await readCrd()).metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
  });

  describe('invalid field', () => {
    interface FieldError {
      field: string;
      message: string;
    }
    async function apiServerErrors(spec: unknown): Promise<FieldError[]> {
      const { status, body } = await dryRun(spec);
      expect(status, JSON.stringify(body)).to.equal(422);
      return body.details.causes;
    }
    function zodErrors(spec: unknown): FieldError[] {
      const { error } = specSchema.safeParse(spec);
      expect(error, 'zod accepts it').to.not.equal(undefined);
      const step = (name: PropertyKey) =>
        typeof name === 'number' ? `[${name}]` : `.${String(name)}`;
      return error!.issues.map(({ path, message }) => ({
        field: ['spec', ...path.map(step)].join(''),
        message,
      }));
    }
    const fields = (errors: FieldError[]) => errors.map(({ field }) => field);

    for (const { path, values } of [...OUT_OF_BOUNDS, ...MISSHAPEN])
      for (const value of values)
        it(`is rejected by the API server and by zod: ${path} = ${shown(value)}`, async () => {
          const spec = specWith(path, value);
          expect(fields(zodErrors(spec))).to.include(`spec.${path}`);
          expect(fields(await apiServerErrors(spec))).to.include(`spec.${path}`);
        });

    for (const { path, values, message } of AGAINST_RULES)
      for (const value of values)
        it(`is rejected with the message of the rule: ${path} = ${shown(value)}`, async () => {
          const spec = specWith(path, value);
          const messages = (errors: FieldError[]) =>
            errors.filter(({ field }) => field === `spec.${path}`).map(each => each.message);
          expect(messages(zodErrors(spec))).to.include(message);
          expect((await apiServerErrors(spec)).map(each => each.message).join()).to.contain(
            message,
          );
        });
  });

  it('has no limit and no rule without a test', () => {
    const schema = browserPoolCrd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec;
    const bounded = boundsOf(schema as Json, '');
    const tested = new Set(OUT_OF_BOUNDS.map(({ path }) => path));
    expect(bounded.bounds.filter(path => !tested.has(path))).to.deep.equal([]);
    expect(
      bounded.messages.filter(message => !AGAINST_RULES.some(rule => rule.message === message)),
    ).to.deep.equal([]);
  });

  describe('default values', () => {
    const specs: Record<string, unknown> = {
      'of the shortest spec': SHORTEST,
      'of nested objects': {
        ...SHORTEST,
        scaling: { maxReplicas: 3, scaleUp: {}, scaleDown: { delaySeconds: 0 } },
        template: { ...SHORTEST.template, chromeSandbox: {} },
      },
      'of a spec with many fields': {
        ...SHORTEST,
        replicas: 0,
        paused: true,
        maxUnavailable: 2,
        template: {
          image: 'worker',
          env: [{ name: 'A', value: 'b' }],
          labels: { team: 'print' },
          resources: { limits: { memory: '2Gi' } },
        },
      },
    };
    for (const [index, [what, spec]] of Object.entries(specs).entries())
      it(`${what} are the same in the API server and in zod`, async () => {
        expect((await create(`filled-${index}`, spec)).spec).to.deep.equal(specSchema.parse(spec));
      });
  });

  describe('pool', () => {
    for (const path of [
      'slots',
      'scaling.max',
      'template.chromeSandbox.profile',
      'poolSecret.namespace',
    ])
      it(`with the unknown field ${path} is rejected`, async () => {
        const { status, body } = await dryRun(specWith(path, 1));
        expect({ status, message: body.message }).to.deep.include({ status: 400 });
        expect(body.message).to.contain(`unknown field "spec.${path}"`);
      });

    for (const name of ['x'.repeat(46), '1st', 'first.pool'])
      it(`with the name ${name} is rejected, because it is no valid Service name`, async () => {
        const { status, body } = await dryRun(SHORTEST, name);
        expect(status).to.equal(422);
        expect(body.details.causes.map((cause: Json) => cause.field)).to.include('metadata.name');
      });
  });

  it('accepts a name of 45 characters', async () => {
    expect((await dryRun(SHORTEST, 'x'.repeat(45))).status).to.equal(201);
  });

  it('preserves unknown fields in embedded parts of a pod', async () => {
    const template = {
      ...SHORTEST.template,
      affinity: { nodeAffinity: { any: [1] } },
      env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'b' } } }],
    };
    const { spec } = await create('parts', { ...SHORTEST, template });
    expect(spec.template).to.deep.include({ affinity: template.affinity, env: template.env });
  });

  describe('kubectl', () => {
    it('explains every field with a sentence', async () => {
      // The schema is published shortly after the CRD is established.
      const schema = await eventually(async () => {
        const { components } = await cluster.get(`/openapi/v3/apis/${API_VERSION}`);
        return components.schemas['dev.pressroom.v1alpha1.BrowserPool'];
      }, MINUTE_MS);
      const parts = ['spec', 'status'].flatMap(part => fieldsOf(schema.properties[part], part));
      expect(parts.length).to.be.greaterThan(60);
      const undocumented = parts.filter(
        ({ description }) => !/^[A-Z`].*\.$/s.test(description ?? ''),
      );
      expect(undocumented.map(({ path }) => path)).to.deep.equal([]);
      const explained = await cluster.kubectl('explain', 'browserpool.spec.scaling');
      expect(explained.replaceAll(/\s+/g, ' '))
        .to.contain('Maximum number of pods.')
        .and.to.contain('The number of pods follows the load');
      expect(await cluster.kubectl('explain', 'bpool.spec', '--recursive')).to.match(
        /scaleDown\s+<Object>\s+delaySeconds\s+<integer>/,
      );
    });

    it('shows size, load and metrics status in the columns of kubectl get', async () => {
      await create('seen', { ...SHORTEST, template: { image: 'registry/worker:1' } });
      const conditions = [
        {
          type: 'MetricsAvailable',
          status: 'True',
          reason: 'Fresh',
          message: 'x',
          lastTransitionTime: '2026-11-22T07:00:00Z',
        },
      ];
      const status = {
        desiredReplicas: 4,
        readyReplicas: 3,
        busySlots: 5,
        queuedRenders: 6,
        lastScaleReason: 'Load',
        conditions,
      };
      const { status: code, body } = await cluster.request(
        'PATCH',
        `${POOLS}/seen/status`,
        { status },
        PATCH.merge,
      );
      expect(code, JSON.stringify(body)).to.equal(200);
      const table = async (...more: string[]) =>
        (await cluster.kubectl('get', 'bpool', 'seen', ...more))
          .trim()
          .split('\n')
          .map(line => line.trim().split(/\s{2,}/));
      const [names, values] = await table();
      expect(names).to.deep.equal(['NAME', 'DESIRED', 'READY', 'BUSY', 'QUEUED', 'METRICS', 'AGE']);
      expect(values!.slice(0, -1)).to.deep.equal(['seen', '4', '3', '5', '6', 'True']);
      const [wideNames, wideValues] = await table('-o', 'wide');
      expect(
        Object.fromEntries(wideNames!.map((name, index) => [name, wideValues![index]])),
      ).to.include({
        REASON: 'Load',
        IMAGE: 'registry/worker:1',
      });
    });

    it('lists pools in the category pressroom', async () => {
      await create('listed');
      expect(await cluster.kubectl('get', 'pressroom', '-o', 'name')).to.contain(
        `browserpool.${GROUP}/listed`,
      );
    });
  });

  it('supports kubectl scale, which fixes the number of pods', async () => {
    await create('scaled');
    await cluster.kubectl('scale', 'bpool/scaled', '--replicas=3');
    expect((await read('scaled')).spec.replicas).to.equal(3);
  });

  it('returns the number of pods and their selector in the scale subresource', async () => {
    await create('counted', { ...SHORTEST, replicas: 2 });
    const status = { replicas: 1, selector: 'pressroom.dev/pool=counted' };
    await cluster.request('PATCH', `${POOLS}/counted/status`, { status }, PATCH.merge);
    const scale = await cluster.get(`${POOLS}/counted/scale`);
    expect({ spec: scale.spec, status: scale.status }).to.deep.equal({
      spec: { replicas: 2 },
      status,
    });
  });

  it('has a status subresource', async () => {
    const before = await create('apart');
    const both = { spec: { slotsPerPod: 7 }, status: { desiredReplicas: 7 } };
    await cluster.request('PATCH', `${POOLS}/apart/status`, both, PATCH.merge);
    const afterStatus = await read('apart');
    expect(afterStatus).to.deep.include({ spec: before.spec, status: both.status });
    expect(afterStatus.metadata.generation).to.equal(1);
    await cluster.request(
      'PATCH',
      `${POOLS}/apart`,
      { ...both, status: { desiredReplicas: 8 } },
      PATCH.merge,
    );
    const afterSpec = await read('apart');
    expect(afterSpec).to.deep.include({
      spec: { ...before.spec, slotsPerPod: 7 },
      status: both.status,
    });
    expect(afterSpec.metadata.generation).to.equal(2);
  });
});

interface Field {
  path: string;
  description?: string;
}

/** All fields of a schema, including those of list items. */
function fieldsOf(schema: Json, path: string): Field[] {
  const below = Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) =>
    fieldsOf(field, `${path}.${name}`),
  );
  const items = fieldsOfItems(schema, path);
  return [{ path, description: schema.description }, ...below, ...items];
}

/** List items need no description of their own, but their fields do. */
const fieldsOfItems = ({ items }: Json, path: string): Field[] =>
  Object.entries<Json>(items?.properties ?? {}).flatMap(([name, field]) =>
    fieldsOf(field, `${path}[0].${name}`),
  );

const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'enum', 'maxItems'];

/** The paths of all fields with a limit, and the messages of all rules. */
function boundsOf(schema: Json, path: string): { bounds: string[]; messages: string[] } {
  const parts = [
    ...Object.entries<Json>(schema.properties ?? {}).map(([name, field]) =>
      boundsOf(field, path ? `${path}.${name}` : name),
    ),
    ...(schema.items ? [boundsOf(schema.items, `${path}[0]`)] : []),
  ];
  const own = (schema['x-kubernetes-validations'] ?? []).map((rule: Json) => rule.message);
  return {
    bounds: [
      ...(BOUNDS.some(bound => bound in schema) ? [path] : []),
      ...parts.flatMap(part => part.bounds),
    ],
    messages: [...own, ...parts.flatMap(part => part.messages)],
  };
}
