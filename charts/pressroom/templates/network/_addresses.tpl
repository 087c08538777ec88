{{/* NetworkPolicy rules. The egress guard of each worker enforces the same public addresses, which common/addresses.ts defines. */}}

{{- define "pressroom.notPublic.ipv4" -}}
[
"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
"224.0.0.0/4", "240.0.0.0/4"
]
{{- end }}

{{/* Non-public ranges within 2000::/3. No address outside of it is public. */}}
{{- define "pressroom.notPublic.ipv6" -}}
["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"]
{{- end }}

{{/* Peers for all public addresses except those in `egress.deny`. */}}
{{- define "pressroom.publicPeers" -}}
{{- $ipv4 := fromJsonArray (include "pressroom.notPublic.ipv4" .) -}}
{{- $ipv6 := fromJsonArray (include "pressroom.notPublic.ipv6" .) -}}
{{- range .Values.egress.deny -}}
{{- if not (contains ":" .) -}}
{{- $ipv4 = append $ipv4 (ternary . (printf "%s/32" .) (contains "/" .)) -}}
{{- else if regexMatch "^[23]" . -}}
{{- $ipv6 = append $ipv6 (ternary . (printf "%s/128" .) (contains "/" .)) -}}
{{- end -}}
{{- end -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{ toJson (uniq $ipv4) }}
- ipBlock:
    cidr: 2000::/3
    except: {{ toJson (uniq $ipv6) }}
{{- end }}

{{/* Rules for the networks in `egress.allow`, each on its port or on all ports for pages. A NetworkPolicy does not support hostnames. */}}
{{- define "pressroom.allowedNetworks" -}}
{{- range .Values.egress.allow -}}
{{- $network := "" -}}
{{- $port := "" -}}
{{- $bits := "32" -}}
{{- if regexMatch "^[0-9.]+(/[0-9]+)?(:[0-9]+)?$" . -}}
{{- $network = regexReplaceAll ":[0-9]+$" . "" -}}
{{- $port = regexFind ":[0-9]+$" . | trimPrefix ":" -}}
{{- else if regexMatch "^\\[[0-9A-Fa-f:.]+(/[0-9]+)?\\](:[0-9]+)?$" . -}}
{{- $network = regexFind "[0-9A-Fa-f:./]+" . -}}
{{- $port = regexFind "\\]:[0-9]+$" . | trimPrefix "]:" -}}
{{- $bits = "128" -}}
{{- else if regexMatch "^[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(/[0-9]+)?$" . -}}
{{- $network = . -}}
{{- $bits = "128" -}}
{{- end -}}
{{- if $network }}
- to:
    - ipBlock:
        cidr: {{ ternary $network (printf "%s/%s" $network $bits) (contains "/" $network) | quote }}
  ports:
    {{- include "pressroom.tcpPorts" (ternary (list $port) $.Values.egress.ports (ne $port "")) | nindent 4 }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "pressroom.tcpPorts" -}}
{{- if not . }}{{ fail "egress.ports and networkPolicy.*.ports: set at least one port. A NetworkPolicy rule without ports allows all ports" }}{{ end -}}
{{- range . -}}
- {protocol: TCP, port: {{ int . }}}
{{ end -}}
{{- end }}

{{/* An egress rule. Takes (list peers ports). Without peers, all destinations are allowed. */}}
{{- define "pressroom.egressTo" -}}
- {{ with index . 0 }}to:
    {{- toYaml . | nindent 4 }}
  {{ end }}ports:
    {{- include "pressroom.tcpPorts" (index . 1) | nindent 4 }}
{{- end }}

{{/* The DNS pods of OpenShift listen on port 5353. */}}
{{- define "pressroom.egressToDns" -}}
{{- $to := .Values.networkPolicy.dns.to -}}
{{- $ports := .Values.networkPolicy.dns.ports -}}
{{- if .Values.openshift.enabled -}}
{{- $namespace := dict "kubernetes.io/metadata.name" "openshift-dns" -}}
{{- $to = ternary (append $to (dict "namespaceSelector" (dict "matchLabels" $namespace))) $to (not (empty $to)) -}}
{{- $ports = append $ports 5353 | uniq -}}
{{- end -}}
- {{ with $to }}to:
    {{- toYaml . | nindent 4 }}
  {{ end }}ports:
    {{- range $ports }}
    - {protocol: UDP, port: {{ int . }}}
    - {protocol: TCP, port: {{ int . }}}
    {{- end }}
{{- end }}

{{/* The ingress rule for scraping metrics. */}}
{{- define "pressroom.metricsIngress" -}}
{{- with .Values.networkPolicy.monitoring -}}
- from:
    {{- toYaml . | nindent 4 }}
  ports:
    - {protocol: TCP, port: 9090}
{{- end -}}
{{- end }}

{{/* The labels of the worker pods, which the controller creates, or the Deployment of the chart. */}}
{{- define "pressroom.workerPods" -}}
app.kubernetes.io/component: worker
pressroom.dev/pool: {{ include "pressroom.pool" . | quote }}
{{- end }}

{{/* A rule for MongoDB, in this release or elsewhere. */}}
{{- define "pressroom.egressToMongodb" -}}
{{- if .Values.mongodb.bundled.enabled -}}
{{- include "pressroom.egressTo" (list (list (dict "podSelector" (dict "matchLabels" (fromYaml (include "pressroom.selectorLabels" (list . "mongodb")))))) (list 27017)) -}}
{{- else -}}
{{- include "pressroom.egressTo" (list .Values.networkPolicy.mongodb.to .Values.networkPolicy.mongodb.ports) -}}
{{- end -}}
{{- end }}
