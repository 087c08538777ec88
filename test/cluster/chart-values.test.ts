import { expect } from 'chai';
import { parse } from 'yaml';
import { chartValues } from '../../tools/chart/values.ts';
import { valuesYaml } from '../../tools/chart/values-yaml.ts';
import { findHelm, type Helm, one, type Values } from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

/** Invalid values, and what the error must contain. */
const INVALID: [string, Values, RegExp][] = [
  ['an unknown value', { apis: {} }, /apis/],
  ['an unknown nested value', { api: { replica: 3 } }, /api[\s\S]*replica/],
  ['text instead of a number', { api: { replicas: 'two' } }, /api[./]replicas/],
  ['a number out of range', { pool: { slotsPerPod: 0 } }, /pool[./]slotsPerPod/],
  [
    'an invalid enum value',
    { pool: { chromeSandbox: { mode: 'on' } } },
    /pool[./]chromeSandbox[./]mode/,
  ],
  ['an unknown field of scaling', { pool: { scaling: { max: 3 } } }, /pool[./]scaling[\s\S]*max/],
  [
    'an unknown nested field of scaling',
    { pool: { scaling: { scaleUp: { pods: 3 } } } },
    /scaleUp[\s\S]*pods/,
  ],
  [
    'an unknown variable',
    { api: { config: { PRESSROOM_BODY_LIMIT: '1MiB' } } },
    /api[./]config[\s\S]*PRESSROOM_BODY_LIMIT/,
  ],
  [
    'a variable that another value sets',
    { api: { config: { PRESSROOM_POOL: 'x' } } },
    /api[./]config[\s\S]*PRESSROOM_POOL/,
  ],
  [
    'a variable of the workers that another value sets',
    { pool: { config: { PRESSROOM_CHROME_PER_ACCOUNT: true } } },
    /pool[./]config[\s\S]*PRESSROOM_CHROME_PER_ACCOUNT/,
  ],
  [
    'a secret as a variable',
    { api: { config: { PRESSROOM_PEPPER: 'a pepper of mine' } } },
    /api[./]config[\s\S]*PRESSROOM_PEPPER/,
  ],
  [
    'a variable of another process',
    { pool: { config: { PRESSROOM_TRIAL: 'off' } } },
    /pool[./]config[\s\S]*PRESSROOM_TRIAL/,
  ],
  [
    'an objective of 1',
    { alerts: { availabilityObjective: 1 } },
    /alerts[./]availabilityObjective/,
  ],
  ['an empty list of paths', { ingress: { paths: [] } }, /ingress[./]paths/],
  ['an empty list of ports for pages', { egress: { ports: [] } }, /egress[./]ports/],
  [
    'a path outside the seccomp directory',
    { pool: { chromeSandbox: { localhostProfile: '../chrome.json' } } },
    /localhostProfile/,
  ],
  [
    'a path with shell syntax',
    { pool: { chromeSandbox: { localhostProfile: 'a$(id).json' } } },
    /localhostProfile/,
  ],
  [
    'a threshold without a histogram bucket',
    { alerts: { queueWaitSeconds: 2 } },
    /alerts[./]queueWaitSeconds/,
  ],
];

/** Combinations of values that the templates reject. */
const CONTRADICTIONS: [string, Values, RegExp][] = [
  ['missing MongoDB settings', { mongodb: { existingSecret: '' } }, /mongodb\.existingSecret/],
  ['two MongoDB settings', { mongodb: { existingSecret: 'a', uri: 'mongodb://b' } }, /only one of/],
  ['an Ingress without a host', { ingress: { enabled: true } }, /ingress\.hosts/],
  ['an HTTPRoute without a Gateway', { httpRoute: { enabled: true } }, /httpRoute\.parentRefs/],
  [
    'a proxy without a CIDR for the NetworkPolicy',
    { egress: { proxy: { existingSecret: 'proxy' } } },
    /egress\.proxy\.cidr/,
  ],
  ['an invalid pool name', { pool: { name: '1st' } }, /pool\.name/],
  ['null ports for pages', { egress: { ports: null } }, /egress\.ports/],
  [
    'an empty list of ports of a NetworkPolicy',
    { networkPolicy: { mongodb: { ports: [] } } },
    /ports.*networkPolicy/,
  ],
  [
    'a CA bundle in a ConfigMap and a Secret',
    { caBundle: { configMap: 'a', secret: 'b' } },
    /caBundle/,
  ],
  [
    'the seccomp installer in the namespace of the release',
    { seccompInstaller: { enabled: true, namespace: 'press' } },
    /seccompInstaller\.namespace/,
  ],
];

const errorOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => '',
    (error: Error) => error.message,
  );

describe('chart values', function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  it('have the same defaults in values.yaml and in the schema', () => {
    const defaults = parse(valuesYaml(), { version: '1.1' });
    expect(chartValues.parse(defaults)).to.deep.equal(chartValues.parse({}));
  });

  it('accept the values that a parent chart passes down', async () => {
    await helm.template({ global: { anything: 1 }, enabled: true });
  });

  for (const [what, values, pattern] of INVALID)
    it(`are rejected with the name of the value: ${what}`, async () => {
      expect(await errorOf(helm.template(values))).to.match(pattern);
    });

  for (const [what, values, pattern] of CONTRADICTIONS)
    it(`are rejected with instructions: ${what}`, async () => {
      expect(await errorOf(helm.template(values))).to.match(pattern);
    });

  it('accept null, which YAML produces for a group whose lines are all commented out', async () => {
    const nulls = {
      config: null,
      podLabels: null,
      podAnnotations: null,
      extraEnv: null,
      extraVolumes: null,
      extraVolumeMounts: null,
      extraContainers: null,
      initContainers: null,
      hostAliases: null,
      dnsConfig: null,
      livenessProbe: null,
    };
    const objects = await helm.template({
      api: { ...nulls, trustedProxies: null, serviceAccount: { annotations: null } },
      pool: { ...nulls, scaling: null, resources: null },
      controller: { ...nulls, namespaces: null },
      alerts: { enabled: true, labels: null, alertLabels: null, disabled: null },
      egress: { allow: null, deny: null, dnsServers: null },
      commonLabels: null,
      commonAnnotations: null,
      podSecurityContext: null,
      extraObjects: null,
      image: { pullSecrets: null },
    });
    expect(one(objects, 'Deployment', 'room-api').spec.template.spec.securityContext).to.deep.equal(
      {
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    );
  });
});
