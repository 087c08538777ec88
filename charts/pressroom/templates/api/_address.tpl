{{/* What the API is called by others, and which of its parts are on. */}}

{{/* Where callers reach it, as the values say; empty when nothing outside of the cluster leads to it. */}}
{{- define "pressroom.api.outside" -}}
{{- if .Values.api.publicUrl -}}
{{- trimSuffix "/" .Values.api.publicUrl -}}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{- printf "%s://%s" (ternary "https" "http" (not (empty .Values.ingress.tls))) (first .Values.ingress.hosts) -}}
{{- end -}}
{{- end }}

{{/* The same, or the address inside of the cluster. */}}
{{- define "pressroom.api.publicUrl" -}}
{{- $port := int .Values.api.service.port -}}
{{- $inside := printf "http://%s.%s.svc%s" (include "pressroom.api.name" .) .Release.Namespace (ternary "" (printf ":%d" $port) (eq $port 80)) -}}
{{- default $inside (include "pressroom.api.outside" .) -}}
{{- end }}

{{/* Takes (list $ variable), a switch that is on by default. Empty when it is off. */}}
{{- define "pressroom.api.on" -}}
{{- $config := default (dict) (index . 0).Values.api.config -}}
{{- if has (toString (dig (index . 1) "on" $config)) (list "on" "true") }}yes{{ end -}}
{{- end }}

{{- define "pressroom.api.dashboard" -}}{{ include "pressroom.api.on" (list . "PRESSROOM_DASHBOARD") }}{{- end }}

{{/* The tool for chat programs. */}}
{{- define "pressroom.api.mcp" -}}
{{- if and (include "pressroom.api.dashboard" .) (include "pressroom.api.on" (list . "PRESSROOM_MCP")) }}yes{{ end -}}
{{- end }}

{{/* Whether it fetches the documents in which these programs describe themselves. */}}
{{- define "pressroom.api.documents" -}}
{{- if and (include "pressroom.api.mcp" .) (include "pressroom.api.on" (list . "PRESSROOM_MCP_CIMD")) }}yes{{ end -}}
{{- end }}
