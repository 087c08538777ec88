// The formats that the chart checks when it is rendered. The schema cannot: Helm would show the
// regular expression instead of a sentence. All patterns are valid in JavaScript and in Go.
import { z } from 'zod';
import { HTTP_URL } from '../../common/config.ts';
import { BYTES_SYNTAX, DURATION_SYNTAX } from '../../common/units.ts';
import { NAMESPACE_NAME } from '../../controller/config.ts';
import { specSchema } from '../../crds/browser-pool.ts';

interface Format {
  pattern: string;
  /** After "must be". A check may have its own words. */
  wanted: string;
  /** Never shown in an error, because it contains a password. */
  secret?: boolean;
  /** Of a number with a unit: the pattern of a part, and the factor of each unit. */
  part?: string;
  units?: Record<string, number>;
}

const { ipv4, ipv6, cidrv4, cidrv6 } = z.regexes;
const oneOf = (...patterns: (RegExp | string)[]) =>
  patterns.map(each => (typeof each === 'string' ? each : each.source)).join('|');
const inside = (pattern: RegExp) => pattern.source.replace(/^\^|\$$/g, '');

/** The JSON schema of a field of the BrowserPool. */
const poolField = (field: z.ZodType) =>
  z.toJSONSchema(field, { io: 'input' }) as {
    pattern?: string;
    'x-kubernetes-validations'?: { message: string }[];
  };
const { scratchSizeLimit } = specSchema.shape.template.shape;
const { maxUnavailable } = specSchema.shape;

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const NUMBER = '(\\d+(\\.\\d*)?|\\.\\d+)';
/** Such as `::ffff:10.0.0.0/104`. */
const IPV6_WITH_IPV4 = `^[0-9a-fA-F:]*:${inside(ipv4)}$`;
const CIDR_WITH_IPV4 = IPV6_WITH_IPV4.replace('$', '/(12[0-8]|1[01]\\d|[1-9]?\\d)$');

export const formats = {
  httpUrl: {
    pattern: HTTP_URL.source,
    wanted: 'an http(s) URL, such as `https://pdf.corp.example`',
  },
  mongodbUri: {
    pattern: '^mongodb(\\+srv)?://\\S+$',
    wanted: 'a connection string that starts with `mongodb://` or `mongodb+srv://`',
    secret: true,
  },
  hostName: {
    pattern: `^(\\*\\.)?${SUBDOMAIN}$`,
    wanted: 'a host name without scheme, port and path, such as `pdf.corp.example`',
  },
  urlPath: { pattern: '^/\\S*$', wanted: 'a path that starts with `/`' },
  cidr: {
    pattern: oneOf(cidrv4, cidrv6),
    wanted: 'a CIDR, such as `10.0.0.0/8` or `fd00::/8`',
  },
  network: {
    pattern: oneOf(ipv4, ipv6, IPV6_WITH_IPV4, cidrv4, cidrv6, CIDR_WITH_IPV4),
    wanted: 'an IP address or a CIDR, such as `10.1.2.3` or `10.0.0.0/8`',
  },
  nameServer: {
    pattern: oneOf(ipv6, IPV6_WITH_IPV4, `^(${inside(ipv4)}|\\[${inside(ipv6)}\\])(:\\d{1,5})?$`),
    wanted: 'an IP address with an optional port, such as `10.0.0.53` or `[fd00::53]:53`',
  },
  /** The workers check the rest. */
  egressTarget: {
    pattern: '^[^\\s,/]+(/\\d{1,3}\\]?(:\\d{1,5})?)?$',
    wanted:
      'a host pattern or a CIDR with an optional port, such as `wiki.corp`, `*.corp.example:8443` or `10.1.0.0/16`',
  },
  imageRegistry: {
    pattern: '^(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9][A-Za-z0-9.-]*)(:\\d{1,5})?(/[a-z0-9._-]+)*/?$',
    wanted:
      'a registry with an optional path and without a scheme, such as `registry.corp.example/pressroom`',
  },
  imageName: {
    pattern: '^([A-Za-z0-9][A-Za-z0-9.-]*(:\\d{1,5})?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$',
    wanted: 'the name of an image without tag and digest, such as `pressroom-api`',
  },
  imageTag: { pattern: '^\\w[\\w.-]{0,127}$', wanted: 'the tag of an image, such as `0.1.0`' },
  imageDigest: {
    pattern: '^sha256:[a-f0-9]{64}$',
    wanted: '`sha256:` followed by 64 lowercase hexadecimal digits',
  },
  objectName: {
    pattern: `^${SUBDOMAIN}$`,
    wanted: 'the name of an object: lowercase letters, digits, `-` and `.`',
  },
  namespace: {
    pattern: NAMESPACE_NAME.source,
    wanted: 'the name of a namespace: lowercase letters, digits and `-`',
  },
  // https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
  quantity: {
    pattern: `^[-+]?${NUMBER}(([KMGTPE]i)|[numkMGTPE]|[eE][-+]?${NUMBER})?$`,
    wanted: 'a quantity, such as `500m`, `2`, `512Mi` or `1Gi`',
  },
  poolSize: {
    pattern: poolField(scratchSizeLimit).pattern!,
    wanted: 'an integer with the unit `Ki`, `Mi` or `Gi`, such as `1Gi`',
  },
  // https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.Duration
  prometheusDuration: {
    pattern: '^(0|(\\d+y)?(\\d+w)?(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?)$',
    wanted: 'a duration, such as `5s` or `1m30s`',
  },
  // https://gateway-api.sigs.k8s.io/geps/gep-2257/
  routeDuration: {
    pattern: '^(\\d{1,5}(h|m|s|ms)){1,4}$',
    wanted: 'a duration of the Gateway API, such as `300s` or `1m30s`',
  },
  maxUnavailable: {
    pattern: '^([1-9]\\d*|[1-9]\\d?%)$',
    wanted: poolField(maxUnavailable)['x-kubernetes-validations']![0]!.message.replace(
      /^must be /,
      '',
    ),
  },
  profilePath: {
    pattern: '^\\w[\\w.-]*(/\\w[\\w.-]*)*$',
    wanted: 'a relative path of letters, digits, `_`, `.` and `-`, such as `pressroom/chrome.json`',
  },
  duration: { ...DURATION_SYNTAX, wanted: 'a duration, such as `30s`' },
  bytes: { ...BYTES_SYNTAX, wanted: 'a size, such as `10MiB`' },
  integer: { pattern: '^\\d{1,15}$', part: '\\d+', units: { '': 1 }, wanted: 'an integer' },
} satisfies Record<string, Format>;

/** A check of a value. The meta key `x-checks` of a value holds a list of them. */
export interface ValueCheck {
  format: keyof typeof formats;
  /** The checked part of the value: names joined by dots, `*` for each entry. */
  below?: string;
  min?: number;
  max?: number;
  wanted?: string;
}

export const withChecks = <T extends z.ZodType>(type: T, ...checks: ValueCheck[]): T =>
  type.meta({ 'x-checks': checks }) as T;

/** A relation in a group. The meta key `x-relations` of a group holds a list of them. */
export interface ValueRelation {
  /** The name of a value that must be at most `larger`. */
  smaller: string;
  larger: string;
  /** Of values that are not set. */
  defaults?: Record<string, number>;
}

export const withRelations = <T extends z.ZodType>(type: T, ...relations: ValueRelation[]): T =>
  type.meta({ 'x-relations': relations }) as T;
