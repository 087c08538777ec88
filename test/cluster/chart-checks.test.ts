import { expect } from 'chai';
import { readApiConfig } from '../../api/config.ts';
import { readControllerConfig } from '../../controller/config.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { findHelm, type Helm, type HelmMajor, type Values } from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const NO_DATABASE = { existingSecret: '' };

/** Values, and the sentences that refuse them. */
const REFUSED: [Values, ...string[]][] = [
  [
    { image: { worker: { digest: 'abc' } } },
    'image.worker.digest must be `sha256:` followed by 64 lowercase hexadecimal digits, not `abc`.',
  ],
  [{ image: { tag: 'a:b' } }, 'image.tag must be the tag of an image, such as `0.1.0`, not `a:b`.'],
  [
    { image: { registry: 'https://registry.example' } },
    'image.registry must be a registry with an optional path and without a scheme, such as `registry.corp.example/pressroom`, not `https://registry.example`.',
  ],
  [
    { image: { api: { repository: 'pressroom-api:0.1.0' } } },
    'image.api.repository must be the name of an image without tag and digest, such as `pressroom-api`, not `pressroom-api:0.1.0`.',
  ],
  [
    { mongodb: { ...NO_DATABASE, uri: 'user:password@db.example' } },
    'mongodb.uri must be a connection string that starts with `mongodb://` or `mongodb+srv://`.',
  ],
  [
    { mongodb: { existingSecret: 'press/database' } },
    'mongodb.existingSecret must be the name of an object: lowercase letters, digits, `-` and `.`, not `press/database`.',
  ],
  [
    {
      mongodb: {
        ...NO_DATABASE,
        bundled: {
          enabled: true,
          storage: { size: '8GB' },
          resources: { limits: { cpu: '1 CPU' } },
        },
      },
    },
    'mongodb.bundled.storage.size must be a quantity, such as `500m`, `2`, `512Mi` or `1Gi`, not `8GB`.',
    'mongodb.bundled.resources.limits.cpu must be a quantity, such as `500m`, `2`, `512Mi` or `1Gi`, not `1 CPU`.',
  ],
  [
    { api: { publicUrl: 'pdf.corp.example' } },
    'api.publicUrl must be an http(s) URL, such as `https://pdf.corp.example`, not `pdf.corp.example`.',
  ],
  [
    { api: { trustedProxies: ['10.0.0.0/8', 'ingress', '10.0.0.0/33'] } },
    'api.trustedProxies[1] must be an IP address or a CIDR, such as `10.1.2.3` or `10.0.0.0/8`, not `ingress`.',
    'api.trustedProxies[2] must be an IP address or a CIDR, such as `10.1.2.3` or `10.0.0.0/8`, not `10.0.0.0/33`.',
  ],
  [
    { api: { service: { loadBalancerSourceRanges: ['198.51.100.7'] } } },
    'api.service.loadBalancerSourceRanges[0] must be a CIDR, such as `10.0.0.0/8` or `fd00::/8`, not `198.51.100.7`.',
  ],
  [
    { api: { autoscaling: { minReplicas: 20, maxReplicas: 10 } } },
    'api.autoscaling.minReplicas (20) must be at most api.autoscaling.maxReplicas (10).',
  ],
  [
    { api: { podDisruptionBudget: { maxUnavailable: '0%' } } },
    'api.podDisruptionBudget.maxUnavailable must be an integer of at least 1, or a percentage from 1% to 99%, not `0%`.',
  ],
  [
    { ingress: { enabled: true, hosts: ['https://x', ''], paths: ['/v1', 'pdf'] } },
    'ingress.hosts[0] must be a host name without scheme, port and path, such as `pdf.corp.example`, not `https://x`.',
    'ingress.hosts[1] must be a host name without scheme, port and path, such as `pdf.corp.example`, not ``.',
    'ingress.paths[1] must be a path that starts with `/`, not `pdf`.',
  ],
  [
    {
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'public' }],
        hostnames: ['pdf.example:443'],
        paths: ['v1'],
        timeouts: { request: '5 minutes' },
      },
    },
    'httpRoute.hostnames[0] must be a host name without scheme, port and path, such as `pdf.corp.example`, not `pdf.example:443`.',
    'httpRoute.paths[0] must be a path that starts with `/`, not `v1`.',
    'httpRoute.timeouts.request must be a duration of the Gateway API, such as `300s` or `1m30s`, not `5 minutes`.',
  ],
  [
    { pool: { scaling: { minReplicas: 20 } } },
    'pool.scaling.minReplicas (20) must be at most pool.scaling.maxReplicas (10).',
  ],
  [
    { pool: { scaling: { stableWindowSeconds: 10, panicWindowSeconds: 11 } } },
    'pool.scaling.panicWindowSeconds (11) must be at most pool.scaling.stableWindowSeconds (10).',
  ],
  [
    { pool: { scaling: { panicWindowSeconds: 90 } } },
    'pool.scaling.panicWindowSeconds (90) must be at most pool.scaling.stableWindowSeconds (60).',
  ],
  [
    { pool: { resources: { requests: { memory: '2GB' } }, scratchSizeLimit: '1.5Gi' } },
    'pool.resources.requests.memory must be a quantity, such as `500m`, `2`, `512Mi` or `1Gi`, not `2GB`.',
    'pool.scratchSizeLimit must be an integer with the unit `Ki`, `Mi` or `Gi`, such as `1Gi`, not `1.5Gi`.',
  ],
  [
    { pool: { chromeSandbox: { localhostProfile: '../chrome.json' } } },
    'pool.chromeSandbox.localhostProfile must be a relative path of letters, digits, `_`, `.` and `-`, such as `pressroom/chrome.json`, not `../chrome.json`.',
  ],
  [
    { egress: { allow: ['https://wiki.corp'], deny: ['corp'], dnsServers: ['dns.corp'] } },
    'egress.allow[0] must be a host pattern or a CIDR with an optional port, such as `wiki.corp`, `*.corp.example:8443` or `10.1.0.0/16`, not `https://wiki.corp`.',
    'egress.deny[0] must be an IP address or a CIDR, such as `10.1.2.3` or `10.0.0.0/8`, not `corp`.',
    'egress.dnsServers[0] must be an IP address with an optional port, such as `10.0.0.53` or `[fd00::53]:53`, not `dns.corp`.',
  ],
  [
    { egress: { proxy: { existingSecret: 'proxy', cidr: '10.20.30.40' } } },
    'egress.proxy.cidr must be a CIDR, such as `10.0.0.0/8` or `fd00::/8`, not `10.20.30.40`.',
  ],
  [
    { controller: { namespaces: ['Other'] } },
    'controller.namespaces[0] must be the name of a namespace: lowercase letters, digits and `-`, not `Other`.',
  ],
  [
    { prometheus: { url: 'foo' } },
    'prometheus.url must be an http(s) URL, such as `https://pdf.corp.example`, not `foo`.',
  ],
  [
    { podMonitor: { interval: '5' } },
    'podMonitor.interval must be a duration, such as `5s` or `1m30s`, not `5`.',
  ],
  [
    { networkPolicy: { mongodb: { to: [{ ipBlock: { cidr: '10.8.0.0' } }] } } },
    'networkPolicy.mongodb.to[0].ipBlock.cidr must be a CIDR, such as `10.0.0.0/8` or `fd00::/8`, not `10.8.0.0`.',
  ],
];

/** Variables and values that the process refuses as well, with the same words. */
const VARIABLES: ['api' | 'pool' | 'controller', string, string | number][] = [
  ['api', 'PRESSROOM_BODY_MAX', '20MB'],
  ['api', 'PRESSROOM_BODY_MAX', '0.5KiB'],
  ['api', 'PRESSROOM_QUEUE_TIMEOUT', '30'],
  ['api', 'PRESSROOM_QUEUE_TIMEOUT', '99ms'],
  ['api', 'PRESSROOM_QUEUE_TIMEOUT', '23h59m60.5s'],
  ['api', 'PRESSROOM_DRAIN_DELAY', '-1s'],
  ['api', 'PRESSROOM_QUEUE_MAX_RENDERS', 1_000_001],
  ['api', 'PRESSROOM_QUEUE_MAX_RENDERS', 0],
  ['api', 'PRESSROOM_TRIAL_PARALLEL', '1e2'],
  ['pool', 'PRESSROOM_RENDER_MEMORY', '63.9MiB'],
  ['pool', 'PRESSROOM_EGRESS_MAX_REQUESTS', 'many'],
  ['controller', 'PRESSROOM_PROMETHEUS_INTERVAL', '5m0.1s'],
];

/** Values at the bounds. */
const ACCEPTED: Values[] = [
  {
    api: {
      config: {
        PRESSROOM_BODY_MAX: '1KiB',
        PRESSROOM_QUEUE_TIMEOUT: '100ms',
        PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '23h59m60s',
        PRESSROOM_DRAIN_DELAY: '0',
        PRESSROOM_QUEUE_MAX_RENDERS: 1_000_000,
        PRESSROOM_QUEUE_MAX_BYTES: '1.5 GiB',
        PRESSROOM_STRIPE_API_URL: 'http://stripe-proxy:8080/',
      },
      autoscaling: { minReplicas: 10, maxReplicas: 10 },
      resources: {
        requests: { cpu: 0.5, memory: 536_870_912 },
        limits: { cpu: '1e3', memory: 1e9 },
      },
      podDisruptionBudget: { maxUnavailable: '50%' },
    },
    pool: { scaling: { minReplicas: 10 }, config: { PRESSROOM_RENDER_MEMORY: '64MiB' } },
    prometheus: { url: 'http://[fd00::1]:9090/prometheus' },
    ingress: { enabled: true, hosts: ['*.corp.example', 'localhost'] },
    podMonitor: { interval: '1m30s' },
    egress: {
      allow: [
        'büro.example',
        '*.corp.example:8443',
        '10.1.0.0/16:8080',
        '[fd01::5]:8443',
        'fd00::/8',
      ],
      deny: ['::ffff:10.0.0.0/104', '64:ff9b::/96', '2001:4860::1'],
      dnsServers: ['10.0.0.53:5353', 'fd00::53', '[fd00::53]:53'],
    },
  },
];

const READ = { api: readApiConfig, pool: readWorkerConfig, controller: readControllerConfig };

function messageOfProcess(part: keyof typeof READ, name: string, value: string): string {
  try {
    READ[part]({ [name]: value });
  } catch (error) {
    const [, message] = /: must be (.*)/.exec((error as Error).message) ?? [];
    if (message !== undefined) return message;
  }
  throw new Error(`the process accepts ${name}=${value}`);
}

for (const major of [3, 4] as const satisfies HelmMajor[])
  describe(`checks of values with Helm ${major}`, function () {
    this.timeout(2 * MINUTE_MS);
    let helm: Helm;

    before(async function () {
      this.timeout(BUILD_LIMIT_MS);
      helm = await findHelm(this, major);
    });

    /** The sentences of the error, without what Helm adds. */
    const refusal = (values: Values): Promise<string[]> =>
      helm.template(values).then(
        () => [],
        (error: Error) => {
          const [, text] =
            /checks\.yaml:\d+:\d+\): ([\s\S]*?)\n\nUse --debug/.exec(error.message) ?? [];
          if (text === undefined) throw error;
          return text.split('\n');
        },
      );

    for (const [values, ...sentences] of REFUSED)
      it(`refuse ${JSON.stringify(values)}`, async () => {
        expect(await refusal(values)).to.deep.equal(sentences);
      });

    for (const [part, name, value] of VARIABLES)
      it(`refuse ${name}=${value} with the words of the process`, async () => {
        const wanted = messageOfProcess(part, name, String(value));
        expect(await refusal({ [part]: { config: { [name]: value } } })).to.deep.equal([
          `${part}.config.${name} must be ${wanted}, not \`${value}\`.`,
        ]);
      });

    it('accept values at the bounds', async () => {
      for (const values of ACCEPTED) expect(await refusal(values)).to.deep.equal([]);
    });

    it('name all invalid values at once, in the order of values.yaml', async () => {
      const sentences = await refusal({
        prometheus: { url: 'foo' },
        image: { worker: { digest: 'abc' } },
        pool: { scaling: { minReplicas: 20 } },
      });
      expect(sentences.map(sentence => sentence.split(' ')[0])).to.deep.equal([
        'image.worker.digest',
        'prometheus.url',
        'pool.scaling.minReplicas',
      ]);
    });
  });
