{{/*
Requests and limits of a worker: the sum over its slots, each with its own Chrome. `pool.resources` overrides them.
The memory request covers Node.js and, per slot, an idle Chrome (90 MiB) and an ordinary page (100 MiB). The memory limit covers, per slot, the memory
limit of a render plus 512 MiB for Chrome itself, for what a page allocates before it is stopped, and for the previous Chrome while it exits.
*/}}
{{- define "pressroom.pool.resources" -}}
{{- $given := default (dict) .Values.pool.resources -}}
{{- $slots := int .Values.pool.slotsPerPod -}}
{{- $render := include "pressroom.mebibytes" (default "1GiB" (default (dict) .Values.pool.config).PRESSROOM_RENDER_MEMORY) | int -}}
{{- /* The API server rejects a request above the limit. With a custom limit, the request is that of two slots. */ -}}
{{- $requested := ternary 2 $slots (hasKey (default (dict) $given.limits) "memory") -}}
{{- $requests := dict "cpu" (printf "%dm" (mul 500 $slots)) "memory" (printf "%dMi" (add 512 (mul 256 $requested))) -}}
{{- $limits := dict "memory" (printf "%dMi" (add 1024 (mul $slots (add $render 512)))) -}}
{{- toYaml (mergeOverwrite (dict "requests" $requests "limits" $limits) (deepCopy $given)) -}}
{{- end }}

{{/* A size such as `1.5GiB` in MiB, rounded up. */}}
{{- define "pressroom.mebibytes" -}}
{{- $bytes := dict "KiB" 1024 "MiB" 1048576 "GiB" 1073741824 -}}
{{- $unit := default 1 (get $bytes (regexFind "[KMG]iB" (toString .))) -}}
{{- printf "%.0f" (ceil (divf (mulf (float64 (regexFind "^[0-9.]+" (trim (toString .)))) $unit) 1048576)) -}}
{{- end }}
