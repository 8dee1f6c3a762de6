{{/* Annotations of a hook: (list WHEN WEIGHT). What succeeded is deleted, what failed stays to be
looked at until the next run. */}}
{{- define "urltree.hook" -}}
helm.sh/hook: {{ index . 0 }}
helm.sh/hook-weight: {{ index . 1 | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
