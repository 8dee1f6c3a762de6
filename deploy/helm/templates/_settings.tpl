{{/* The job's settings as environment variables. Context: root, name (of the stage), stage (its values). */}}

{{/* A value in the format that the job reads: lists with commas, large numbers in digits. helm reads
numbers of YAML as floats, so that 33554432 would become 3.3554432e+07. */}}
{{- define "urltree.settings.value" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/* The settings of a stage, as JSON. Its own settings override the settings of all stages. */}}
{{- define "urltree.settings.merged" -}}
{{- toJson (mergeOverwrite (deepCopy .root.Values.settings) (deepCopy .stage.settings)) -}}
{{- end -}}

{{- define "urltree.settings.env" -}}
{{- range $name, $value := . }}
- name: URLTREE_{{ upper $name }}
  value: {{ include "urltree.settings.value" $value | quote }}
{{- end }}
{{- end -}}

{{/* The grace period after SIGTERM: shutdown_seconds, and 15 s for the interpreter, the web server and
a node under load. Then the kubelet kills the worker, and its records in flight are replayed. */}}
{{- define "urltree.settings.grace" -}}
{{- $merged := include "urltree.settings.merged" . | fromJson -}}
{{- add (ceil (default 25 $merged.shutdown_seconds) | int64) 15 -}}
{{- end -}}
