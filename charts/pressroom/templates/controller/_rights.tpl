{{/* What the controller may do, and where. */}}

{{/* The namespaces whose pools it looks after, as JSON. */}}
{{- define "pressroom.controller.namespaces" -}}
{{- prepend (default (list) .Values.controller.namespaces) .Release.Namespace | uniq | toJson -}}
{{- end }}

{{/* It reads no Secret, since the workers' pods name theirs, and deletes nothing: what belongs to a pool goes with it by its owner references. */}}
{{- define "pressroom.controller.rules" -}}
- apiGroups: [pressroom.dev]
  resources: [browserpools]
  verbs: [list, watch]
- apiGroups: [pressroom.dev]
  resources: [browserpools/status]
  verbs: [patch]
# Where the API server asks whoever names an owner that blocks its deletion for this right (OwnerReferencesPermissionEnforcement).
- apiGroups: [pressroom.dev]
  resources: [browserpools/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch]
# It ranks pods that have nothing to do as the first to go.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end }}
