{{/* The pod of a command that runs once: topics, reset, the test. Context: root, component, args,
topics (name of the ConfigMap), account (name of the ServiceAccount). A Job retries a failed pod. */}}

{{/* The settings of all enabled stages, as JSON, so that a command computes the same keys as a stage. If
stages differ, the value of normalize is used, because normalize computes the keys of pages. */}}
{{- define "urltree.command.settings" -}}
{{- $merged := deepCopy .Values.settings -}}
{{- $stages := include "urltree.stages" . | fromJson -}}
{{- range list "poll" "fetch" "extract" "normalize" -}}
{{- with get $stages . }}{{ $merged = mergeOverwrite $merged .settings }}{{ end -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{/* The options of a command's pod, as JSON. The pod gets the volumes of normalize, because the settings
of normalize may name files in them. The Job for topics gets none: it reads no such file, and it runs
before the objects of the release exist. */}}
{{- define "urltree.command.knobs" -}}
{{- $knobs := deepCopy .root.Values.pods -}}
{{- $stages := include "urltree.stages" .root | fromJson -}}
{{- $normalize := default dict $stages.normalize -}}
{{- range list "extraVolumes" "extraVolumeMounts" -}}
{{- if eq $.component "topics" }}{{ $_ := set $knobs . list }}
{{- else if hasKey $normalize . }}{{ $_ := set $knobs . (get $normalize .) }}{{ end -}}
{{- end -}}
{{- toJson $knobs -}}
{{- end -}}

{{- define "urltree.command.labels" -}}
{{ include "urltree.selector" . }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- with .root.Values.pods.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "urltree.command.spec" -}}
{{- $knobs := include "urltree.command.knobs" . | fromJson -}}
restartPolicy: Never
{{- with .account }}
serviceAccountName: {{ . }}
{{- end }}
{{ include "urltree.pod.security" .root }}
{{- with include "urltree.pod.scheduling" (dict "root" .root "knobs" $knobs) | trim }}
{{ . }}
{{- end }}
containers:
  - name: {{ .component }}
    image: {{ include "urltree.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    command: [python, -m, agents]
    args: {{- toYaml .args | nindent 6 }}
    env:
      {{- include "urltree.pod.env" . | nindent 6 }}
      {{- if ne .component "topics" }}
      {{- with include "urltree.headers.env" .root | trim }}{{ . | nindent 6 }}{{ end }}
      {{- end }}
      {{- include "urltree.settings.env" (include "urltree.command.settings" .root | fromJson) | trim | nindent 6 }}
      {{- with $knobs.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    resources: {{- toYaml .root.Values.commands.resources | nindent 6 }}
    securityContext: {{- include "urltree.pod.containerSecurity" . | nindent 6 }}
    volumeMounts:
      {{- include "urltree.pod.mounts" . | nindent 6 }}
      {{- with $knobs.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  {{- include "urltree.pod.volumes" (dict "root" .root "component" .component "topics" .topics) | nindent 2 }}
  - name: data
    emptyDir:
      sizeLimit: 64Mi
  {{- with $knobs.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
