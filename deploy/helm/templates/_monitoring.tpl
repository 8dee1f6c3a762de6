{{/* Shared parts of PodMonitor and ServiceMonitor. Context: root, monitor (its values), from ("pod" or
"service", as in the meta labels of Prometheus). */}}

{{/* Alerts and dashboard use the labels `job` (the release) and `stage` (the component). The operator
adds the labels namespace and pod. */}}
{{- define "urltree.monitoring.endpoint" -}}
- port: metrics
  path: /metrics
  interval: {{ .monitor.interval }}
  relabelings:
    - action: replace
      sourceLabels: [__meta_kubernetes_{{ .from }}_label_app_kubernetes_io_component]
      targetLabel: stage
{{- end -}}

{{- define "urltree.monitoring.labels" -}}
{{ include "urltree.labels" (dict "root" .root) }}
{{- with .monitor.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}
