{{/* The URLs of the API, and which of its features are enabled. */}}

{{/* The URL outside the cluster, from api.publicUrl, the Ingress or the HTTPRoute. Empty if none is set. */}}
{{- define "pressroom.api.outside" -}}
{{- if .Values.api.publicUrl -}}
{{- trimSuffix "/" .Values.api.publicUrl -}}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{- printf "%s://%s" (ternary "https" "http" (not (empty .Values.ingress.tls))) (first .Values.ingress.hosts) -}}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames -}}
{{- /* A hostname such as *.corp.example has no URL. */ -}}
{{- with first .Values.httpRoute.hostnames }}{{ if not (hasPrefix "*" .) }}https://{{ . }}{{ end }}{{ end -}}
{{- end -}}
{{- end }}

{{/* The same, or the in-cluster URL of the Service. */}}
{{- define "pressroom.api.publicUrl" -}}
{{- $port := int .Values.api.service.port -}}
{{- $inside := printf "http://%s.%s.svc%s" (include "pressroom.api.name" .) .Release.Namespace (ternary "" (printf ":%d" $port) (eq $port 80)) -}}
{{- default $inside (include "pressroom.api.outside" .) -}}
{{- end }}

{{/* Whether a variable is on. Empty if it is off. Takes (list $ variable default). */}}
{{- define "pressroom.api.on" -}}
{{- $config := default (dict) (index . 0).Values.api.config -}}
{{- if has (toString (dig (index . 1) (index . 2) $config)) (list "on" "true") }}yes{{ end -}}
{{- end }}

{{/* Whether renders without an API key are accepted. */}}
{{- define "pressroom.api.trial" -}}{{ include "pressroom.api.on" (list . "PRESSROOM_TRIAL" .Values.api.trial.enabled) }}{{- end }}

{{/* Whether static documents of an account share a page. */}}
{{- define "pressroom.api.rendererReuse" -}}{{ include "pressroom.api.on" (list . "PRESSROOM_RENDERER_REUSE" .Values.api.rendererReuse.enabled) }}{{- end }}

{{- define "pressroom.api.dashboard" -}}{{ include "pressroom.api.on" (list . "PRESSROOM_DASHBOARD" "on") }}{{- end }}

{{/* Whether the MCP server is enabled. */}}
{{- define "pressroom.api.mcp" -}}
{{- if and (include "pressroom.api.dashboard" .) (include "pressroom.api.on" (list . "PRESSROOM_MCP" "on")) }}yes{{ end -}}
{{- end }}

{{/* Whether the API fetches client metadata documents (CIMD) of MCP clients. */}}
{{- define "pressroom.api.documents" -}}
{{- if and (include "pressroom.api.mcp" .) (include "pressroom.api.on" (list . "PRESSROOM_MCP_CIMD" "on")) }}yes{{ end -}}
{{- end }}
