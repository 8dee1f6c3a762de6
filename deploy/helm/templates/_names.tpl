{{/* Names and labels. Each context is a dict with root (the chart's $) and component. */}}

{{/* At most 41 characters: a StatefulSet adds "-normalize", the label of its pods adds a hash of 11
characters, and a label may have 63. */}}
{{- define "urltree.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 41 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 41 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 41 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that select pods. They must never change: a selector is immutable. */}}
{{- define "urltree.selector" -}}
app.kubernetes.io/name: urltree
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "urltree.labels" -}}
{{ include "urltree.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: urltree
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "urltree.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "urltree.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "urltree.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The enabled stages, as JSON: {"normalize": {…}, …}. */}}
{{- define "urltree.stages" -}}
{{- $enabled := dict -}}
{{- range $name, $stage := .Values.stages -}}
{{- if $stage.enabled }}{{ $_ := set $enabled $name $stage }}{{ end -}}
{{- end -}}
{{- toJson $enabled -}}
{{- end -}}
