import { expect } from 'chai';
import { parse } from 'yaml';
import { chartValues } from '../../tools/chart/values.ts';
import { valuesYaml } from '../../tools/chart/values-yaml.ts';
import { findHelm, type Helm, one, type Values } from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

/** What is wrong, and the words that must stand in the refusal. */
const REFUSED: [string, Values, RegExp][] = [
  ['an unknown value', { apis: {} }, /apis/],
  ['an unknown value within', { api: { replica: 3 } }, /api[\s\S]*replica/],
  ['a number that is a word', { api: { replicas: 'two' } }, /api[./]replicas/],
  ['a number out of bounds', { pool: { slotsPerPod: 0 } }, /pool[./]slotsPerPod/],
  [
    'a word that is not one of a list',
    { pool: { chromeSandbox: { mode: 'on' } } },
    /pool[./]chromeSandbox[./]mode/,
  ],
  ['an unknown field of scaling', { pool: { scaling: { max: 3 } } }, /pool[./]scaling[\s\S]*max/],
  [
    'an unknown field within scaling',
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
    'an objective that cannot be met',
    { alerts: { availabilityObjective: 1 } },
    /alerts[./]availabilityObjective/,
  ],
  ['pages without a port', { egress: { ports: [] } }, /egress[./]ports/],
  [
    'a path that leads elsewhere',
    { pool: { chromeSandbox: { localhostProfile: '../chrome.json' } } },
    /localhostProfile/,
  ],
  [
    'a path that a shell would run',
    { pool: { chromeSandbox: { localhostProfile: 'a$(id).json' } } },
    /localhostProfile/,
  ],
  [
    'a bound that the histogram does not have',
    { alerts: { queueWaitSeconds: 2 } },
    /alerts[./]queueWaitSeconds/,
  ],
];

/** What the templates refuse, since it is about several values. */
const CONTRADICTIONS: [string, Values, RegExp][] = [
  ['no way to MongoDB', { mongodb: { existingSecret: '' } }, /mongodb\.existingSecret/],
  ['two ways to MongoDB', { mongodb: { existingSecret: 'a', uri: 'mongodb://b' } }, /only one of/],
  ['an Ingress without a host', { ingress: { enabled: true } }, /ingress\.hosts/],
  [
    'a proxy that the NetworkPolicy does not know',
    { egress: { proxy: { existingSecret: 'proxy' } } },
    /egress\.proxy\.cidr/,
  ],
  ['a name that no pool can have', { pool: { name: '1st' } }, /pool\.name/],
  ['pages without a port, by null', { egress: { ports: null } }, /egress\.ports/],
  [
    'a way of a NetworkPolicy without a port',
    { networkPolicy: { mongodb: { ports: [] } } },
    /ports.*networkPolicy/,
  ],
  ['an authority in two places', { caBundle: { configMap: 'a', secret: 'b' } }, /caBundle/],
  [
    'the installer in the namespace of the release',
    { seccompInstaller: { enabled: true, namespace: 'press' } },
    /seccompInstaller\.namespace/,
  ],
];

const refusal = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => '',
    (error: Error) => error.message,
  );

describe("the chart's values", function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  it('have the defaults that their schema tells', () => {
    const defaults = parse(valuesYaml(), { version: '1.1' });
    expect(chartValues.parse(defaults)).to.deep.equal(chartValues.parse({}));
  });

  it('know what a chart above this one hands down', async () => {
    await helm.template({ global: { anything: 1 }, enabled: true });
  });

  for (const [what, values, words] of REFUSED)
    it(`refuse ${what} by name`, async () => {
      expect(await refusal(helm.template(values))).to.match(words);
    });

  for (const [what, values, words] of CONTRADICTIONS)
    it(`refuse ${what}, and say what to do`, async () => {
      expect(await refusal(helm.template(values))).to.match(words);
    });

  it('take null for nothing, as a group whose lines are all commented out is read', async () => {
    const nothing = {
      config: null,
      podLabels: null,
      podAnnotations: null,
      extraEnv: null,
      extraVolumes: null,
      extraVolumeMounts: null,
    };
    const objects = await helm.template({
      api: { ...nothing, trustedProxies: null, serviceAccount: { annotations: null } },
      pool: { ...nothing, scaling: null, resources: null },
      controller: { ...nothing, namespaces: null },
      alerts: { enabled: true, labels: null, alertLabels: null, disabled: null },
      egress: { allow: null, deny: null, dnsServers: null },
      commonLabels: null,
      commonAnnotations: null,
      podSecurityContext: null,
      image: { pullSecrets: null },
    });
    expect(one(objects, 'Deployment', 'room-api').spec.template.spec.securityContext).to.deep.equal(
      {
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    );
  });

  it('take a default annotation away with null', async () => {
    const annotations = {
      'nginx.ingress.kubernetes.io/proxy-body-size': null,
      'haproxy.org/timeout-server': '300s',
    };
    const objects = await helm.template({
      ingress: { enabled: true, hosts: ['pdf.example'], annotations },
    });
    expect(Object.keys(one(objects, 'Ingress').metadata.annotations)).to.have.members([
      'haproxy.org/timeout-server',
      'nginx.ingress.kubernetes.io/proxy-read-timeout',
      'nginx.ingress.kubernetes.io/proxy-send-timeout',
    ]);
  });
});
