// The checks of SecurityContextConstraints as a ValidatingAdmissionPolicy. OpenShift also assigns the
// users, groups and SELinux levels that a pod leaves out; the policy only allows to leave them out.
import { type KubeObject, NAMESPACE } from './helm.ts';

/** The users of the namespace, as OpenShift annotates them. */
export const UID_RANGE = '1000680000/10000';
const ANNOTATION = 'openshift.io/sa.scc.uid-range';

/** As in OpenShift 4. All service accounts may use it. */
export const RESTRICTED_V2 = {
  allowHostDirVolumePlugin: false,
  allowHostIPC: false,
  allowHostNetwork: false,
  allowHostPID: false,
  allowHostPorts: false,
  allowPrivilegeEscalation: false,
  allowPrivilegedContainer: false,
  allowedCapabilities: ['NET_BIND_SERVICE'],
  readOnlyRootFilesystem: false,
  requiredDropCapabilities: ['ALL'],
  runAsUser: { type: 'MustRunAsRange' },
  fsGroup: { type: 'MustRunAs' },
  seLinuxContext: { type: 'MustRunAs' },
  seccompProfiles: ['runtime/default'],
  supplementalGroups: { type: 'RunAsAny' },
  volumes: [
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'image',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ],
};

/** CEL: a field of the security context of `holder` is unset or meets a condition. */
const unless = (holder: string, field: string, good: (value: string) => string) => {
  const context = `${holder}.securityContext`;
  return `(!has(${context}) || !has(${context}.${field}) || (${good(`${context}.${field}`)}))`;
};
const inRange = (value: string) =>
  `${value} >= variables.first && ${value} < variables.first + variables.count`;
const each = (good: string) => `variables.containers.all(c, ${good})`;
const everywhere = (field: string, good: (value: string) => string) =>
  `${unless('object.spec', field, good)} && ${each(unless('c', field, good))}`;
const within = (list: string[]) => (value: string) => `${value} in ${JSON.stringify(list)}`;
const profile = (value: string) =>
  `(${value}.type == 'Localhost' ? 'localhost/' + ${value}.localhostProfile : ${value}.type == 'RuntimeDefault' ? 'runtime/default' : 'unconfined')`;

/** The conditions of SecurityContextConstraints by the name of the field. */
function conditionsOf(scc: KubeObject): Record<string, string> {
  const never = () => 'false';
  const given = (path: string) => `has(c.securityContext) && has(c.securityContext.${path})`;
  const dropped = scc.requiredDropCapabilities.map(
    (name: string) => `'${name}' in c.securityContext.capabilities.drop`,
  );
  const types = scc.volumes.map((type: string) => `has(v.${type})`).join(' || ');
  return {
    host: ['hostNetwork', 'hostPID', 'hostIPC']
      .map(field => `(!has(object.spec.${field}) || !object.spec.${field})`)
      .join(' && '),
    hostPort: each('!has(c.ports) || c.ports.all(p, !has(p.hostPort))'),
    volumes: `!has(object.spec.volumes) || object.spec.volumes.all(v, ${types})`,
    runAsUser: everywhere('runAsUser', inRange),
    fsGroup: unless('object.spec', 'fsGroup', inRange),
    seLinuxOptions: everywhere('seLinuxOptions', never),
    seccompProfile: everywhere('seccompProfile', value =>
      within(scc.seccompProfiles)(profile(value)),
    ),
    privileged: each(unless('c', 'privileged', value => `!${value}`)),
    allowPrivilegeEscalation: each(
      `${given('allowPrivilegeEscalation')} && !c.securityContext.allowPrivilegeEscalation`,
    ),
    'capabilities.drop': each(`${given('capabilities.drop')} && ${dropped.join(' && ')}`),
    'capabilities.add': each(
      `!(${given('capabilities.add')}) || c.securityContext.capabilities.add.all(name, ${within(scc.allowedCapabilities)('name')})`,
    ),
    ...(scc.readOnlyRootFilesystem && {
      readOnlyRootFilesystem: each(
        `${given('readOnlyRootFilesystem')} && c.securityContext.readOnlyRootFilesystem`,
      ),
    }),
  };
}

/** CEL: the names of the fields that violate the constraints, including `user` without the right. */
function failuresOf(scc: KubeObject): string {
  const account = `('system:serviceaccount:' + namespaceObject.metadata.name + ':' + object.spec.serviceAccountName)`;
  const users = scc.users ? { user: within(scc.users)(account) } : {};
  const found = Object.entries({ ...users, ...conditionsOf(scc) }).map(
    ([name, good]) => `((${good}) ? '' : '${name}')`,
  );
  return `[${found.join(', ')}].filter(name, name != '')`;
}

/** The namespace of the release, and a policy that admits pods that meet one of `constraints`. */
export function openshiftWith(constraints: Record<string, KubeObject>): object[] {
  const all = Object.entries(constraints);
  const metadata = { name: 'security-context-constraints' };
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
  ];
  const range = `namespaceObject.metadata.annotations['${ANNOTATION}'].split('/')`;
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: NAMESPACE,
        labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
        annotations: { [ANNOTATION]: UID_RANGE },
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules },
        variables: [
          {
            name: 'containers',
            expression:
              'object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])',
          },
          { name: 'first', expression: `int(${range}[0])` },
          { name: 'count', expression: `int(${range}[1])` },
          ...all.map(([, scc], at) => ({ name: `failures${at}`, expression: failuresOf(scc) })),
        ],
        validations: [
          {
            expression: all.map((_, at) => `size(variables.failures${at}) == 0`).join(' || '),
            messageExpression: all
              .map(([name], at) => `'${name}: ' + variables.failures${at}.join(' ')`)
              .join(" + '; ' + "),
          },
        ],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: metadata.name,
        validationActions: ['Deny'],
        matchResources: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
        },
      },
    },
  ];
}
