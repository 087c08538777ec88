// The chart's values for the HTTPRoute of the API (Gateway API).
import { z } from 'zod';
import { withChecks } from './formats.ts';
import { flag, group, listIn, listValue, objectValue, textMapValue } from './parts.ts';

/** Path prefixes that an Ingress or an HTTPRoute sends to the API. */
export const routedPaths = () =>
  withChecks(z.array(z.string()).min(1).default(['/']), {
    format: 'urlPath',
    below: '*',
  }).describe(
    'Path prefixes routed to the API. The README lists the paths of the API, the dashboard and the MCP server.',
  );

export const httpRouteValues = group({
  enabled: flag(false).describe(
    'Create an HTTPRoute (`gateway.networking.k8s.io/v1`). It requires the CRDs of the Gateway API and a Gateway. Also set `api.publicUrl` and `api.trustedProxies`.',
  ),
  parentRefs: listValue().describe(
    'Gateways or listeners that the route attaches to, such as `name: public` with `namespace: gateways` and `sectionName: https`.',
  ),
  hostnames: listIn('hostName').describe(
    'Hostnames, such as `pdf.corp.example`. When empty, the route has the hostnames of the listeners.',
  ),
  paths: routedPaths(),
  annotations: textMapValue().describe('Annotations of the HTTPRoute.'),
  labels: textMapValue().describe('Additional labels of the HTTPRoute.'),
  timeouts: withChecks(objectValue({ request: '300s' }), {
    format: 'routeDuration',
    below: '*',
  }).describe(
    'Time limits (`timeouts` of a rule). The default allows the longest renders. Some gateways use 15 s when none is set. If yours does not support the field, set `timeouts: null`.',
  ),
}).describe(
  'The HTTPRoute of the API, for a Gateway instead of an Ingress controller, or beside one.',
);
