{{/* What PodMonitor and ServiceMonitor share. Context: root, monitor (its values), from: "pod" or
"service", in Prometheus' meta labels. */}}

{{/* Alerts and dashboard speak of `job`, the release, and `stage`, the component; the operator sets
namespace and pod. */}}
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
