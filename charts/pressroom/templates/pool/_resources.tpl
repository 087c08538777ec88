{{/*
Requests and limits of a worker, summed up over its slots, each of which has a Chrome of its own. What `pool.resources` sets counts instead.
Memory: Node and its caches, then per slot a waiting Chrome (90 MiB) and an ordinary page (100 MiB) as the request, and as the limit the most that
a render may use, with 512 MiB for Chrome itself, for what a page takes before it is stopped, and for the Chrome before, while it ends.
*/}}
{{- define "pressroom.pool.resources" -}}
{{- $given := default (dict) .Values.pool.resources -}}
{{- $slots := int .Values.pool.slotsPerPod -}}
{{- $render := include "pressroom.mebibytes" (default "1GiB" (default (dict) .Values.pool.config).PRESSROOM_RENDER_MEMORY) | int -}}
{{- /* Above a smaller limit of the operator the API server would refuse it: then it is what two slots need. */ -}}
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
