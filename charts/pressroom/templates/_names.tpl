{{/* How things are called. */}}

{{/* What all names begin with: short enough for every ending, and for the label that a StatefulSet makes of `<this>-mongodb` and a hash of ten letters. */}}
{{- define "pressroom.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- end }}

{{/* The pool is a BrowserPool, whose name a Service and labels are made from. */}}
{{- define "pressroom.pool" -}}
{{- $name := default (include "pressroom.fullname" .) .Values.pool.name -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,43}[a-z0-9])?$" $name) -}}
{{- fail (printf "pool.name: `%s` must begin with a letter, have at most 45 lower-case letters, digits and dashes, and end without a dash" $name) -}}
{{- end -}}
{{- $name -}}
{{- end }}

{{- define "pressroom.api.name" -}}{{ include "pressroom.fullname" . }}-api{{- end }}
{{- define "pressroom.controller.name" -}}{{ include "pressroom.fullname" . }}-controller{{- end }}
{{- define "pressroom.mongodb.name" -}}{{ include "pressroom.fullname" . }}-mongodb{{- end }}
{{/* The Secret that is made when there is none. */}}
{{- define "pressroom.secrets.name" -}}{{ include "pressroom.fullname" . }}-secrets{{- end }}

{{/* Takes (list $ component). */}}
{{- define "pressroom.selectorLabels" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: pressroom
app.kubernetes.io/instance: {{ $.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The labels of an object. Takes (list $ component) and, behind these, a dict of more. What the chart itself says counts: no key stands there twice. */}}
{{- define "pressroom.labels" -}}
{{- $ := index . 0 -}}
{{- $more := dict -}}
{{- if gt (len .) 2 }}{{ $more = default (dict) (index . 2) }}{{ end -}}
{{- $chart := dict
  "app.kubernetes.io/version" $.Chart.AppVersion
  "app.kubernetes.io/managed-by" $.Release.Service
  "helm.sh/chart" (printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_")
-}}
{{- toYaml (mergeOverwrite (dict) (default (dict) $.Values.commonLabels) $more $chart (fromYaml (include "pressroom.selectorLabels" .))) -}}
{{- end }}

{{/* The labels of a pod, which other objects select it by. Takes (list $ component) and, behind these, a dict of more. */}}
{{- define "pressroom.podLabels" -}}
{{- $ := index . 0 -}}
{{- $more := dict -}}
{{- if gt (len .) 2 }}{{ $more = default (dict) (index . 2) }}{{ end -}}
{{- $chart := dict "app.kubernetes.io/version" $.Chart.AppVersion -}}
{{- toYaml (mergeOverwrite (dict) (default (dict) $.Values.commonLabels) $more $chart (fromYaml (include "pressroom.selectorLabels" .))) -}}
{{- end }}

{{/*
The metadata of an object. Takes (list $ component name annotations), and behind these what is not as usual: a dict of `namespace` (empty for an object of the
whole cluster) and `labels`.
*/}}
{{- define "pressroom.metadata" -}}
{{- $ := index . 0 -}}
{{- $unusual := dict -}}
{{- if gt (len .) 4 }}{{ $unusual = index . 4 }}{{ end -}}
{{- $namespace := ternary $unusual.namespace $.Release.Namespace (hasKey $unusual "namespace") -}}
name: {{ index . 2 | quote }}
{{- with $namespace }}
namespace: {{ . | quote }}
{{- end }}
labels:
  {{- include "pressroom.labels" (list $ (index . 1) $unusual.labels) | nindent 2 }}
{{- with mergeOverwrite (dict) (default (dict) $.Values.commonAnnotations) (default (dict) (index . 3)) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Takes (list $ component values); the service account of an API or controller. */}}
{{- define "pressroom.serviceAccountName" -}}
{{- $ := index . 0 -}}
{{- $account := (index . 2).serviceAccount -}}
{{- default (ternary (printf "%s-%s" (include "pressroom.fullname" $) (index . 1)) "default" $account.create) $account.name -}}
{{- end }}

{{/* The name of an image by digest or tag. Takes (list $ image). */}}
{{- define "pressroom.image" -}}
{{- $ := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := default ($.Values.global).imageRegistry $.Values.image.registry -}}
{{- $name := ternary $image.repository (printf "%s/%s" (trimSuffix "/" (toString $registry)) $image.repository) (empty $registry) -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (coalesce $image.tag $.Values.image.tag $.Chart.AppVersion) -}}
{{- end -}}
{{- end }}
