{{/* Names, labels and metadata of all objects. */}}

{{/* The prefix of all names. 44 characters leave room for every suffix, and for the pod label of the StatefulSet `<prefix>-mongodb` with its ten-character hash. */}}
{{- define "pressroom.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- end }}

{{/* The name of the BrowserPool. It is used for a Service and as a label value. */}}
{{- define "pressroom.pool" -}}
{{- $name := default (include "pressroom.fullname" .) .Values.pool.name -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,43}[a-z0-9])?$" $name) -}}
{{- fail (printf "pool.name: `%s` is invalid. Use at most 45 lowercase letters, digits and hyphens, starting with a letter and ending with a letter or digit" $name) -}}
{{- end -}}
{{- $name -}}
{{- end }}

{{- define "pressroom.api.name" -}}{{ include "pressroom.fullname" . }}-api{{- end }}
{{- define "pressroom.controller.name" -}}{{ include "pressroom.fullname" . }}-controller{{- end }}
{{/* Not empty if the release has a controller. */}}
{{- define "pressroom.controller.enabled" -}}
{{- if and .Values.controller.enabled (eq .Values.autoscaling.mode "controller") }}yes{{ end -}}
{{- end }}
{{- define "pressroom.mongodb.name" -}}{{ include "pressroom.fullname" . }}-mongodb{{- end }}
{{/* The Secret with the generated secrets. */}}
{{- define "pressroom.secrets.name" -}}{{ include "pressroom.fullname" . }}-secrets{{- end }}

{{/* Takes (list $ component). */}}
{{- define "pressroom.selectorLabels" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: pressroom
app.kubernetes.io/instance: {{ $.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The labels of an object. Takes (list $ component) and an optional dict of additional labels. Labels of the chart take precedence. */}}
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

{{/* The labels of a pod. Takes (list $ component) and an optional dict of additional labels. */}}
{{- define "pressroom.podLabels" -}}
{{- $ := index . 0 -}}
{{- $more := dict -}}
{{- if gt (len .) 2 }}{{ $more = default (dict) (index . 2) }}{{ end -}}
{{- $chart := dict "app.kubernetes.io/version" $.Chart.AppVersion -}}
{{- toYaml (mergeOverwrite (dict) (default (dict) $.Values.commonLabels) $more $chart (fromYaml (include "pressroom.selectorLabels" .))) -}}
{{- end }}

{{/*
The metadata of an object. Takes (list $ component name annotations) and an optional dict with `namespace` (empty for a cluster-scoped object) and
additional `labels`.
*/}}
{{- define "pressroom.metadata" -}}
{{- $ := index . 0 -}}
{{- $options := dict -}}
{{- if gt (len .) 4 }}{{ $options = index . 4 }}{{ end -}}
{{- $namespace := ternary $options.namespace $.Release.Namespace (hasKey $options "namespace") -}}
name: {{ index . 2 | quote }}
{{- with $namespace }}
namespace: {{ . | quote }}
{{- end }}
labels:
  {{- include "pressroom.labels" (list $ (index . 1) $options.labels) | nindent 2 }}
{{- with mergeOverwrite (dict) (default (dict) $.Values.commonAnnotations) (default (dict) (index . 3)) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The service account of the API or the controller. Takes (list $ component values). */}}
{{- define "pressroom.serviceAccountName" -}}
{{- $ := index . 0 -}}
{{- $account := (index . 2).serviceAccount -}}
{{- default (ternary (printf "%s-%s" (include "pressroom.fullname" $) (index . 1)) "default" $account.create) $account.name -}}
{{- end }}

{{/* The service account of the workers. */}}
{{- define "pressroom.workerServiceAccountName" -}}
{{- default (printf "%s-workers" (include "pressroom.pool" .)) .Values.pool.serviceAccountName -}}
{{- end }}

{{/* The image reference, by digest or tag. Takes (list $ image). */}}
{{- define "pressroom.image" -}}
{{- $ := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := default $.Values.image.registry ($.Values.global).imageRegistry -}}
{{- $name := ternary $image.repository (printf "%s/%s" (trimSuffix "/" (toString $registry)) $image.repository) (empty $registry) -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (coalesce $image.tag $.Values.image.tag $.Chart.AppVersion) -}}
{{- end -}}
{{- end }}
