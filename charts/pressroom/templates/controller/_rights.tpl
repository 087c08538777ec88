{{/* What the controller may do, and where. */}}

{{/* The namespaces whose pools it looks after, as JSON. */}}
{{- define "pressroom.controller.namespaces" -}}
{{- prepend .Values.controller.namespaces .Release.Namespace | uniq | toJson -}}
{{- end }}

{{/* It reads no Secret: the workers' pods name theirs. */}}
{{- define "pressroom.controller.rules" -}}
- apiGroups: [pressroom.dev]
  resources: [browserpools]
  verbs: [get, list, watch, patch]
- apiGroups: [pressroom.dev]
  resources: [browserpools/status]
  verbs: [get, patch]
# Where the API server asks whoever names an owner that blocks its deletion for this right (OwnerReferencesPermissionEnforcement).
- apiGroups: [pressroom.dev]
  resources: [browserpools/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
# It ranks pods that have nothing to do as the first to go.
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
